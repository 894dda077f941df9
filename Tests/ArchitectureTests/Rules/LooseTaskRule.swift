/// Requires a reason for an unstructured task, because work belongs in the `run()` of a service or in a task group.
enum LooseTaskRule {
    /// The maximum distance between the comment with the reason and the task.
    static let reachInLines = 6

    static func findings(in file: TextFile, code: [String]) -> [Finding] {
        guard file.module != nil, file.module != "SluiceCommand" else { return [] }
        let lines = file.lines
        return code.enumerated().compactMap { index, line in
            guard line.containsBytes("Task"), line.contains(/\bTask\s*(?:\([^)]*\)\s*)?\{/),
                !hasReason(above: index, of: lines)
            else { return nil }
            let sentence = "let the work live in the run() of a Service or in a task group, or say above why it cannot"
            return Finding(path: file.path, line: index + 1, sentence: sentence)
        }
    }

    /// Whether there is a comment in the paragraph above.
    private static func hasReason(above index: Int, of lines: [Substring]) -> Bool {
        for line in lines[..<index].suffix(reachInLines).reversed() {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("//") { return true }
            if text.isEmpty { return false }
        }
        return false
    }
}
