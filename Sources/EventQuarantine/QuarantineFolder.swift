package import EventJournal

/// A quarantine's folder: journals in the folders `verdicts/0`, `verdicts/1` and so on, and `refused/0`, `refused/1` and
/// so on; each process that writes has one of each to itself.
///
/// In folders named `0`, `1` and so on stands what older versions kept, both kinds mixed: it is read, and never written
/// or removed.
package struct QuarantineFolder: Sendable {
    /// What a part keeps.
    package enum Kind: Sendable, Hashable, CaseIterable {
        /// Both kinds, written by older versions.
        case mixed
        /// What trackers did not take, and what in the journal does not follow the plan any more.
        case refused
        /// What senders sent that does not follow the plan.
        case verdicts

        /// The folder with these parts, in the quarantine's.
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

        /// Its folder in the quarantine's, as `verdicts/0`.
        package var description: String { kind.folder.map { "\($0)/\(number)" } ?? "\(number)" }
    }

    /// The most parts of a kind; no more processes write to one quarantine.
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

    /// Takes the first part of a kind that nobody has; it is the caller's until the lock is let go.
    ///
    /// - Throws: `locked` where all are taken, `unwritable` where the folder cannot be written.
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

    /// The parts that are there, those of older versions first.
    ///
    /// - Throws: `unreadable` where there is no such folder.
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

    /// Where a part is.
    package func folder(of part: Part) -> String { "\(path)/\(part)" }
}
