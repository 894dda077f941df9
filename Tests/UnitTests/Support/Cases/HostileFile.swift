package import Foundation

/// Something other than a regular file, where Sluice expects one of its own files.
package enum HostileFile: String, Sendable, CaseIterable {
    /// A symbolic link to a file of somebody else.
    case link
    /// A symbolic link to a file that does not exist, and that opening it could create.
    case danglingLink
    /// A pipe that nobody writes to; opening it for reading blocks.
    case pipe
    case socket
    case folder

    /// The contents of the file that a link leads to.
    package static let victimText = "This file belongs to somebody else.\n"

    /// Puts it at a path in place of what is there; a link leads to the file `victim` in the same folder as `elsewhere`.
    package func put(at path: String, elsewhere: URL) throws {
        try? FileManager.default.removeItem(atPath: path)
        let victim = elsewhere.appending(path: "victim").path
        try? FileManager.default.removeItem(atPath: victim)
        switch self {
        case .link:
            try Self.victimText.write(toFile: victim, atomically: false, encoding: .utf8)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: victim)
        case .danglingLink:
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: victim)
        case .pipe:
            guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        case .socket:
            guard mknod(path, mode_t(S_IFSOCK) | 0o600, 0) == 0 else {
                throw POSIXError(.init(rawValue: errno) ?? .EIO)
            }
        case .folder:
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
    }

    /// Whether what a link leads to is as it was.
    package func hasHarmed(elsewhere: URL) -> Bool {
        let text = try? String(contentsOf: elsewhere.appending(path: "victim"), encoding: .utf8)
        return text != (self == .link ? Self.victimText : nil)
    }
}
