package import Foundation

/// Files of the project that tests read.
package enum RepositoryFile {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The location of a file or folder, given its path from the project's folder.
    package static func url(_ path: String) -> URL { root.appending(path: path) }

    /// The text of a file, given its path from the project's folder.
    package static func text(_ path: String) throws -> String { try String(contentsOf: url(path), encoding: .utf8) }
}
