import Foundation
import Yams

/// The tree of a configuration file, with the place of each key and value.
///
/// JSON is read as YAML, which contains it, because Foundation's reader of JSON keeps no places.
struct ConfigurationTree {
    /// The text is not YAML.
    struct SyntaxError: Error {
        /// The line and the column, both from 1; `nil` if they are unknown.
        let place: (line: Int, column: Int)?
        let sentence: String
        /// Whether the text is valid nevertheless, as JSON.
        let isOfValidText: Bool

        init(place: (line: Int, column: Int)?, sentence: String, isOfValidText: Bool = false) {
            self.place = place
            self.sentence = sentence
            self.isOfValidText = isOfValidText
        }

        init(at mark: Mark, _ sentence: String) {
            self.init(place: (mark.line, mark.column), sentence: sentence)
        }

        var ofValidText: SyntaxError { SyntaxError(place: place, sentence: sentence, isOfValidText: true) }
    }

    /// The value of the document; `nil` if it is empty.
    let root: Node?
    /// The names of the keys that were renamed, by the names that they got.
    private let renamed: [String: String]

    /// Parses a text.
    ///
    /// Yams rejects a section with a key that occurs twice, without reading on. To find all problems in one run, the first of such
    /// keys is given a name of the same length that is unique, and the text is parsed again; `name(of:)` returns the name as it
    /// was written.
    init(text: String) throws(SyntaxError) {
        var text = text
        var renamed: [String: String] = [:]
        while true {
            do {
                root = try Yams.compose(yaml: text)
                self.renamed = renamed
                return
            } catch YamlError.duplicatedKeysInMapping(let names, let context) {
                let name = names.first ?? ""
                guard let placeholder = Self.placeholder(for: name, number: renamed.count),
                    Self.replace(name, at: context.mark, with: placeholder, in: &text)
                else { throw SyntaxError(at: context.mark, "the key '\(name)' is there twice") }
                renamed[placeholder] = name
            } catch {
                throw Self.syntaxError(error)
            }
        }
    }

    /// The name of a key as it was written; `nil` if it is no text.
    func name(of key: Node) -> String? { key.string.map { renamed[$0] ?? $0 } }

    /// A unique name of the same length, from characters that have no meaning.
    private static func placeholder(for name: String, number: Int) -> String? {
        guard !name.isEmpty, let scalar = Unicode.Scalar(UInt32(0xE000 + number)), scalar.value < 0xF900
        else { return nil }
        return String(String.UnicodeScalarView(repeatElement(scalar, count: name.unicodeScalars.count)))
    }

    /// Replaces a key that begins at a mark, quoted or not; false if another text is there.
    private static func replace(_ name: String, at mark: Mark, with placeholder: String, in text: inout String) -> Bool
    {
        var lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(Array.init)
        guard lines.indices.contains(mark.line - 1) else { return false }
        let line = lines[mark.line - 1]
        var start = mark.column - 1
        if line.indices.contains(start), line[start] == "\"" || line[start] == "'" { start += 1 }
        let end = start + name.unicodeScalars.count
        guard end <= line.count, line[start..<end].elementsEqual(name.unicodeScalars) else { return false }
        lines[mark.line - 1].replaceSubrange(start..<end, with: placeholder.unicodeScalars)
        text = lines.map { String(String.UnicodeScalarView($0)) }.joined(separator: "\n")
        return true
    }

    private static func syntaxError(_ error: any Error) -> SyntaxError {
        switch error {
        case YamlError.scanner(let context, let problem, let mark, _),
            YamlError.parser(let context, let problem, let mark, _),
            YamlError.composer(let context, let problem, let mark, _):
            let circumstances = context.map { "\($0.text) in line \($0.mark.line), " } ?? ""
            return SyntaxError(at: mark, circumstances + problem)
        case YamlError.reader(let problem, _, _, _):
            return SyntaxError(place: nil, sentence: problem)
        default:
            return SyntaxError(place: nil, sentence: "it cannot be parsed")
        }
    }
}
