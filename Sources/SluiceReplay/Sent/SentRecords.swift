package import EventJournal
import EventModel

/// The records of a quarantine that a replay has sent again, so that none is sent twice.
///
/// Their keys are stored in a separate journal in the quarantine's folder.
package struct SentRecords: ~Copyable {
    /// The keys of the sent records: `QuarantineRecord.key`.
    package private(set) var keys: Set<String> = []
    private var writer: JournalWriter?

    private static func folder(in quarantine: String) -> String { quarantine + "/sent" }

    /// Reads the keys; with `changes`, keys will be added, which locks the journal.
    ///
    /// - Throws: `JournalError`, with the code `locked` if another process replays the same quarantine.
    package init(ofQuarantine folder: String, changes: Bool) throws(JournalError) {
        let folder = Self.folder(in: folder)
        let now = Timestamp.now().microseconds
        writer =
            changes
            ? JournalWriter(try Journal(folder: folder, configuration: .init(minimumFreeBytes: 0), now: now)) : nil
        try read(folder)
    }

    /// Stores keys durably.
    ///
    /// - Throws: `JournalError` if the disk does not accept them.
    package mutating func add(_ added: [String]) throws(JournalError) {
        let lines = added.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
        _ = try writer?.commit(lines: lines, count: added.count, now: Timestamp.now().microseconds)
        keys.formUnion(added)
    }

    private mutating func read(_ folder: String) throws(JournalError) {
        guard let files = try? PosixFileSystem(existing: folder, isReadOnly: true) else { return }
        var flaw: String?
        do throws(FileError) {
            var walk = try JournalWalk(files)
            reading: while true {
                switch try walk.next() {
                case .frame(_, let lines, _):
                    for key in lines.split(separator: UInt8(ascii: "\n")) {
                        keys.insert(String(decoding: key, as: UTF8.self))
                    }
                case .damage(let damage): flaw = "\(damage)"
                case .gap(let gap): flaw = "\(gap)"
                case .unfinished, .retired, .passed: break
                case .end: break reading
                }
            }
        } catch {
            flaw = "\(error)"
        }
        if let flaw {
            throw JournalError(.unreadable, "The list of replayed records in '\(folder)' cannot be read: \(flaw).")
        }
    }
}
