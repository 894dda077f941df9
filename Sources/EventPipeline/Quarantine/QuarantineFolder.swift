package import Journal

/// A quarantine's folder: journals in folders named `0`, `1` and so on, two for each process that writes at a time.
package struct QuarantineFolder: Sendable {
    /// No more than half as many processes write to one quarantine.
    private static let maximumParts = 128

    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// How a part is written.
    static func configuration(
        _ durability: JournalConfiguration.Durability,
        capacityInBytes: Int
    ) -> JournalConfiguration {
        JournalConfiguration(
            durability: durability,
            segmentBytes: 16 << 20,
            maximumBytes: capacityInBytes,
            minimumFreeBytes: 0
        )
    }

    /// Takes the first part that nobody has; it is the caller's until the lock is let go.
    ///
    /// - Throws: `locked` where all are taken, `unwritable` where the folder cannot be written.
    static func claimPart(of path: String) throws(JournalError) -> (any FileSystem, FolderLock) {
        var locked: JournalError?
        for number in 0..<maximumParts {
            let folder = "\(path)/\(number)"
            let files: PosixFileSystem
            do throws(FileError) {
                files = try PosixFileSystem(path: folder)
            } catch {
                throw JournalError(.unwritable, "Its folder cannot be made: \(error).")
            }
            do throws(JournalError) {
                return (files, try FolderLock(folder: folder))
            } catch {
                guard error.code == .locked else { throw error }
                locked = error
            }
        }
        throw locked ?? JournalError(.locked, "All parts of the quarantine '\(path)' are in use.")
    }

    /// The parts that are there, in order.
    ///
    /// - Throws: `unreadable` where there is no such folder.
    package func parts() throws(JournalError) -> [Int] {
        do throws(FileError) {
            return try PosixFileSystem(existing: path, isReadOnly: true).names().compactMap { Int($0) }
                .filter { (0..<Self.maximumParts).contains($0) }.sorted()
        } catch {
            throw JournalError(.unreadable, "The quarantine '\(path)' cannot be read: \(error).")
        }
    }

    /// Where a part is.
    package func folder(ofPart part: Int) -> String { "\(path)/\(part)" }
}
