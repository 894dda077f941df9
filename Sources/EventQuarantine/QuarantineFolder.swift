package import EventJournal

/// A quarantine's folder: journals in the folders `verdicts/0`, `verdicts/1` and so on, and `refused/0`, `refused/1` and so on;
/// each process that writes has one of each to itself.
///
/// Folders named `0`, `1` and so on were written by older versions and hold both kinds of events. They are read, and lose the events
/// that are too old.
package struct QuarantineFolder: Sendable {
    /// The kind of events in a part.
    package enum Kind: Sendable, Hashable, CaseIterable {
        /// Both kinds, written by older versions.
        case mixed
        /// Events that trackers refused, and events of the journal that no longer follow the plan.
        case refused
        /// Rejected events of senders.
        case verdicts

        /// The subfolder with these parts.
        fileprivate var folder: String? {
            switch self {
            case .mixed: nil
            case .refused: "refused"
            case .verdicts: "verdicts"
            }
        }
    }

    /// One journal of a quarantine.
    package struct Part: Sendable, Hashable, CustomStringConvertible {
        package let kind: Kind
        package let number: Int

        /// Its path in the quarantine's folder, for example `verdicts/0`.
        package var description: String { kind.folder.map { "\($0)/\(number)" } ?? "\(number)" }
    }

    /// The maximum number of parts of a kind, and so the maximum number of processes that write to one quarantine.
    private static let maximumParts = 128

    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// The journal configuration of a part.
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

    /// Takes the first part of a kind that no process has locked; it is the caller's until the lock is released.
    ///
    /// - Throws: `locked` if all parts are taken, `unwritable` if the folder cannot be written.
    func claimPart(_ kind: Kind) throws(JournalError) -> (any FileSystem, FolderLock) {
        var locked: JournalError?
        for number in 0..<Self.maximumParts {
            let folder = folder(of: Part(kind: kind, number: number))
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

    /// The existing parts, those of older versions first.
    ///
    /// - Throws: `unreadable` if there is no such folder.
    package func parts() throws(JournalError) -> [Part] {
        do throws(FileError) {
            var parts: [Part] = []
            for kind in Kind.allCases { parts += try self.parts(kind) }
            return parts
        } catch {
            throw JournalError(.unreadable, "The quarantine '\(path)' cannot be read: \(error).")
        }
    }

    private func parts(_ kind: Kind) throws(FileError) -> [Part] {
        let names: [String]
        do throws(FileError) {
            let folder = kind.folder.map { "\(path)/\($0)" } ?? path
            names = try PosixFileSystem(existing: folder, isReadOnly: true).names()
        } catch {
            guard kind != .mixed, error.isMissing else { throw error }
            return []
        }
        return names.compactMap { Int($0) }.filter { (0..<Self.maximumParts).contains($0) }.sorted()
            .map { Part(kind: kind, number: $0) }
    }

    /// The path of a part.
    package func folder(of part: Part) -> String { "\(path)/\(part)" }
}
