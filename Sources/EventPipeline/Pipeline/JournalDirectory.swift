public import EventJournal

/// Where a pipeline keeps its journal, and how.
///
/// A string literal is a folder with the default configuration.
public struct JournalDirectory: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The folder, which is created if it does not exist.
    public var path: String
    /// How the journal is written, and how large it may become.
    public var configuration: JournalConfiguration

    /// Names a folder.
    public init(path: String, configuration: JournalConfiguration = JournalConfiguration()) {
        self.path = path
        self.configuration = configuration
    }

    /// Names a folder, with the default configuration.
    public init(stringLiteral path: String) {
        self.init(path: path)
    }

    /// A folder of the file system, which one pipeline at a time may use.
    public static func directory(
        _ path: String,
        _ configuration: JournalConfiguration = JournalConfiguration()
    ) -> JournalDirectory {
        JournalDirectory(path: path, configuration: configuration)
    }
}
