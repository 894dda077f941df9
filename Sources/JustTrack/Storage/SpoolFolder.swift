import EventJournal
import EventModel
import Foundation

/// The spools of one tracker: a journal for each process that tracked events for it, and one for refused events.
///
/// A spool's name is a UUID of version 7, so that names sort by age. The process that writes a spool holds its lock; the next
/// `enable()` restores a spool without a holder.
struct SpoolFolder: Sendable {
    /// The maximum number of spools before the oldest are removed: two for each of 16 processes.
    static let maximumCount = 32

    let path: String

    /// The limits of a spool, small enough for an app: its size, and how long it keeps undelivered events.
    static let configuration = JournalConfiguration(
        // As with UserDefaults, written events survive the app, and no call waits for a disk.
        durability: .none,
        segmentBytes: 1 << 20,
        maximumBytes: 32 << 20,
        minimumFreeBytes: 16 << 20,
        retentionAge: .seconds(30 * 86_400),
        retentionBytes: 16 << 20,
        retentionDropsUndelivered: true
    )

    /// Creates a new spool.
    func begin() throws(JournalError) -> Spool {
        var generator = EventIDGenerator()
        return try Spool(folder: path + "/" + generator.next(at: .now()).description)
    }

    /// The existing spools, oldest first; some may be in use.
    var spools: [String] {
        names.filter { Spool.isSpool($0, in: path) }.sorted().map { path + "/" + $0 }
    }

    /// Removes the oldest spools if there are too many, as in an app that never calls `enable()`; returns how many of
    /// them held undelivered events, which are lost.
    ///
    /// Spools without undelivered events go first: a process that ends normally leaves one.
    func removeSuperfluous() -> Int {
        removeRemains()
        guard spools.count >= Self.maximumCount else { return 0 }
        for folder in spools { Spool.removeSettled(folder) }
        return spools.dropLast(Self.maximumCount - 1).count { Spool.removeUnused($0) }
    }

    /// Removes all spools that are not in use.
    func removeUnused() {
        removeRemains()
        for spool in spools { _ = Spool.removeUnused(spool) }
    }

    /// Removes the rest of spools whose removal was interrupted.
    private func removeRemains() {
        for name in names where Spool.isRemains(name, in: path) { Spool.removeRemains(path + "/" + name) }
    }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }
}
