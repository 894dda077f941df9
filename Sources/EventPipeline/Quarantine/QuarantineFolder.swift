package import Journal

/// A quarantine's folder: journals in folders named `0`, `1` and so on, one for each process that writes at a time.
package struct QuarantineFolder: Sendable {
    /// No more processes write to one quarantine.
    private static let maximumParts = 64

    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// Opens the first part that no other process has.
    static func openPart(of path: String, capacityInBytes: Int, now: Int64) throws(JournalError) -> Journal {
        let configuration = JournalConfiguration(
            // Synced when asked for, and when a segment ends.
            durability: .interval(.seconds(1)),
            segmentBytes: 16 << 20,
            maximumBytes: capacityInBytes,
            minimumFreeBytes: 0
        )
        var locked: JournalError?
        for number in 0..<maximumParts {
            do throws(JournalError) {
                return try Journal(folder: "\(path)/\(number)", configuration: configuration, now: now)
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
