/// A place in a plan file: what every diagnostic and every verdict points at.
public struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
    /// The file's path as it was given to the reader.
    public let file: String
    /// The line, counted from 1.
    public let line: Int
    /// The column in UTF-8 bytes, counted from 1.
    public let column: Int

    /// Names a place in a plan file.
    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// `path:line:column`, as compilers write it.
    public var description: String { "\(file):\(line):\(column)" }
}
