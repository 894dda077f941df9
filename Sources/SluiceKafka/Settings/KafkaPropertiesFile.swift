import SettingDefinitions

/// A file with librdkafka properties, one `name=value` in each line; empty lines and those that begin with `#` are ignored.
///
/// Lines end with LF or CR LF.
struct KafkaPropertiesFile {
    struct Line {
        let number: Int
        /// `nil` if the line is not `name=value`.
        let property: KafkaProperty?
    }

    let lines: [Line]

    init(_ bytes: [UInt8]) {
        // Only LF and CR LF end a line: a value may contain other characters that Unicode counts as line breaks.
        let texts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        }
        lines = texts.enumerated()
            .filter { !$0.element.allSatisfy(\.isWhitespace) && $0.element.utf8.first != UInt8(ascii: "#") }
            .map { Line(number: $0.offset + 1, property: KafkaProperty($0.element)) }
    }

    /// Reads a file again that was valid before.
    ///
    /// - Throws: `SecretFile.Problem`.
    init(path: String) throws(SecretFile.Problem) {
        self.init(try SecretFile.currentContents(of: path))
    }

    /// The properties; a line that is none, such as one that is being written, is left out.
    var values: [String: String] {
        Dictionary(lines.compactMap(\.property).map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }
}
