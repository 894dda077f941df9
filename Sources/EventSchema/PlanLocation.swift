/// A place in a plan file, to which diagnostics and verdicts point.
public struct PlanLocation: Sendable, Hashable, CustomStringConvertible {
    /// The file's path as it was given to the reader.
    public let file: String
    /// The line, counted from 1; 0 if only the file is known, as in a plan that is compiled into a program.
    public let line: Int
    /// The column in UTF-8 bytes, counted from 1; 0 without a line.
    public let column: Int

    /// Names a place in a plan file.
    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// Names a plan file.
    public init(file: String) {
        self.init(file: file, line: 0, column: 0)
    }

    /// `path:line:column`, as compilers write it, or only the path.
    public var description: String { line == 0 ? file : "\(file):\(line):\(column)" }
}

extension PlanLocation: Codable {
    /// Reads `path:line:column`.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        let text = try value.decode(String.self)
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count >= 3, let line = Int(parts[parts.count - 2]), let column = Int(parts[parts.count - 1]) else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "not a place in a plan: \(text)")
        }
        self.init(file: parts.dropLast(2).joined(separator: ":"), line: line, column: column)
    }

    /// Writes `path:line:column`.
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(description)
    }
}
