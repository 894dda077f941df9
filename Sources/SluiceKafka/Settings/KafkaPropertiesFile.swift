import SettingDefinitions

/// A file with librdkafka properties, one `name=value` in each line; empty lines and those that begin with `#` are ignored.
struct KafkaPropertiesFile {
    struct Line {
        let number: Int
        /// `nil` if the line is not `name=value`.
        let property: KafkaProperty?
    }

    let lines: [Line]

    init(_ bytes: [UInt8]) {
        let texts = String(decoding: bytes, as: UTF8.self)
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        lines = texts.enumerated().filter { !$0.element.allSatisfy(\.isWhitespace) && !$0.element.hasPrefix("#") }
            .map { Line(number: $0.offset + 1, property: KafkaProperty(String($0.element))) }
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
