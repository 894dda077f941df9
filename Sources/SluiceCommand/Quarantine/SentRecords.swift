import EventJournal
import EventModel

/// Which records of a quarantine were sent on, so that none is sent on twice: a journal of their ids beside the parts.
struct SentRecords: ~Copyable {
    /// Their keys.
    private(set) var ids: Set<String> = []
    private var writer: JournalWriter?

    static func folder(in quarantine: String) -> String { quarantine + "/sent" }

    /// Reads what was sent on; where `changes` says so, more can be added, and no other process can.
    ///
    /// - Throws: `locked` where another process sends on from the same quarantine.
    init(ofQuarantine folder: String, changes: Bool) throws(JournalError) {
        let folder = Self.folder(in: folder)
        let now = Timestamp.now().microseconds
        writer =
            changes
            ? JournalWriter(try Journal(folder: folder, configuration: .init(minimumFreeBytes: 0), now: now)) : nil
        try read(folder)
    }

    /// Notes ids, for good.
    mutating func add(_ added: [String]) throws(JournalError) {
        let lines = added.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
        _ = try writer?.commit(lines: lines, count: added.count, now: Timestamp.now().microseconds)
        ids.formUnion(added)
    }

    /// Ends well; what is not ended well is read as well.
    consuming func close() throws(JournalError) {
        try writer.take()?.close(now: Timestamp.now().microseconds)
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
                        ids.insert(String(decoding: key, as: UTF8.self))
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
        if let flaw { throw JournalError(.unreadable, "What was sent on cannot be told from '\(folder)': \(flaw).") }
    }
}
