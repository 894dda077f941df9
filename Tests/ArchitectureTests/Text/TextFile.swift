/// A file's path from the project's root, and its text.
struct TextFile: Sendable {
    let path: String
    let text: String

    init(path: String, text: String) {
        self.path = path
        self.text = text
    }

    /// The lines of the text, without line endings.
    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// The components of the path.
    var components: [Substring] { path.split(separator: "/") }

    /// The module that a file in `Sources` or in the migrations belongs to.
    var module: String? {
        if components.first == "migrations" { return "SluiceMigrations" }
        return components.count > 2 && components[0] == "Sources" ? String(components[1]) : nil
    }
}

extension StringProtocol {
    /// Whether the line contains a text, compared byte by byte.
    ///
    /// `contains` compares characters, which takes a hundred times as long, and the rules search 100,000 lines.
    func containsBytes(_ word: String) -> Bool {
        let word = Array(word.utf8)
        return Array(utf8).withUnsafeBytes { bytes in
            var start = 0
            while bytes.count - start >= word.count {
                let last = bytes.count - word.count
                guard let found = bytes[start...last].firstIndex(of: word[0]) else { return false }
                if bytes[found..<found + word.count].elementsEqual(word) { return true }
                start = found + 1
            }
            return false
        }
    }
}

/// A violation of a rule.
struct Finding: Sendable, Hashable, CustomStringConvertible {
    let path: String
    /// The line number, starting at 1; 0 for the whole file.
    let line: Int
    let sentence: String

    var description: String { "\(path):\(line): \(sentence)" }
}
