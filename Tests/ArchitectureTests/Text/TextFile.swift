/// A file's path from the project's root, and its text.
struct TextFile: Sendable {
    let path: String
    let text: String

    init(path: String, text: String) {
        self.path = path
        self.text = text
    }

    /// Its lines, without their ends.
    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// The parts of its path.
    var components: [Substring] { path.split(separator: "/") }

    /// The module that a file under `Sources`, or of the migrations, belongs to.
    var module: String? {
        if components.first == "migrations" { return "SluiceMigrations" }
        return components.count > 2 && components[0] == "Sources" ? String(components[1]) : nil
    }
}

/// Something in a file that a rule forbids.
struct Finding: Sendable, Hashable, CustomStringConvertible {
    let path: String
    /// Counted from 1; 0 where the whole file is meant.
    let line: Int
    let sentence: String

    var description: String { "\(path):\(line): \(sentence)" }
}
