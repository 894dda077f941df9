import EventJournal
import EventModel
import Foundation

/// One tracker's spools: a journal for each process that tracked events for it, and for those it did not take.
///
/// A spool is named by a UUID of version 7, so that names sort by age. Whoever writes it holds its lock; one that nobody
/// holds was left behind, and is restored by the next `enable()`.
struct SpoolFolder: Sendable {
    /// So many spools may be there before the oldest are removed: two for each of 16 processes.
    static let maximumCount = 32

    let path: String

    /// The least that suits an app: what it may take of the disk, and how long it keeps what nobody takes.
    static let configuration = JournalConfiguration(
        // Like the defaults of the system: what is written survives the app, and no call waits for a disk.
        durability: .none,
        segmentBytes: 1 << 20,
        maximumBytes: 32 << 20,
        minimumFreeBytes: 16 << 20,
        retentionAge: .seconds(30 * 86_400),
        retentionBytes: 16 << 20,
        retentionDropsUndelivered: true
    )

    /// Begins a spool, which nobody else has.
    func begin() throws(JournalError) -> Spool {
        var generator = EventIDGenerator()
        return try Spool(folder: path + "/" + generator.next(at: .now()).description)
    }

    /// The spools that are there, oldest first; some may be in use.
    var spools: [String] {
        names.filter { Spool.isSpool($0, in: path) }.sorted().map { path + "/" + $0 }
    }

    /// Removes the oldest spools where too many were left behind, as by an app that never calls `enable()`; returns how
    /// many of them held events that are lost with them.
    ///
    /// Those of which everything was passed on go first: a process that just ends leaves its spool behind.
    func removeSuperfluous() -> Int {
        removeRemains()
        guard spools.count >= Self.maximumCount else { return 0 }
        for folder in spools { Spool.removeSettled(folder) }
        return spools.dropLast(Self.maximumCount - 1).count { Spool.removeUnused($0) }
    }

    /// Removes all spools that nobody uses.
    func removeUnused() {
        removeRemains()
        for spool in spools { _ = Spool.removeUnused(spool) }
    }

    /// Removes what is left of spools in whose removal a process ended.
    private func removeRemains() {
        for name in names where Spool.isRemains(name, in: path) { Spool.removeRemains(path + "/" + name) }
    }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }
}
