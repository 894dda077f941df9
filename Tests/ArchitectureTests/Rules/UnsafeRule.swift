/// Requires a comment, directly above code that the compiler cannot check, that says why it is safe.
enum UnsafeRule {
    static let words = ["@unchecked Sendable", "nonisolated(unsafe)", "unowned(unsafe)"]

    static func findings(in file: TextFile, code: [String]) -> [Finding] {
        let lines = file.lines
        return code.enumerated().compactMap { index, line in
            guard let word = words.first(where: line.containsBytes), !hasReason(above: index, of: lines) else {
                return nil
            }
            let sentence = "say in a comment right above why \(word) is safe"
            return Finding(path: file.path, line: index + 1, sentence: sentence)
        }
    }

    /// Whether the lines above have a comment, possibly with attributes or further unsafe words in between.
    private static func hasReason(above index: Int, of lines: [Substring]) -> Bool {
        for line in lines[..<index].reversed() {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("//") { return true }
            guard text.hasPrefix("@") || words.contains(where: { text.contains($0) }) else { return false }
        }
        return false
    }
}
