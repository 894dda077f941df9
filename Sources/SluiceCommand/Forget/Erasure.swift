import EventModel
import EventSchema
import EventValidation
import SluiceSettings
import TrackerKit

/// Erases people's events from the destinations that can, and keeps receipts of it.
struct Erasure {
    /// How long it waits until running processes know new tombstones: they look once a second, and finish what they deliver.
    private static let settleTime = Duration.seconds(3)

    let trackers: [any ErasingTracker]
    let folder: ReceiptFolder
    let key: HashKey
    /// Says which properties an anonymised event keeps.
    let plan: TrackingPlan
    /// Finds out what remains after a request.
    let remainders: @Sendable (Timestamp) async -> [Remainder]
    private let clock = RelativeClock(ContinuousClock())

    /// What a request would erase.
    struct Preview {
        let devices: [SeenDevice]
        let counts: Receipt.Counts
    }

    // MARK: A new request

    /// The devices of users, over all destinations.
    private func devices(of users: Set<ExactText>) async throws(TrackerError) -> [SeenDevice] {
        var isShared: [ExactText: Bool] = [:]
        for tracker in trackers {
            for device in try await tracker.devices(of: users) {
                isShared[device.anonymousID, default: false] = device.isShared || isShared[device.anonymousID] == true
            }
        }
        return isShared.map { SeenDevice(anonymousID: $0, isShared: $1) }.sorted { $0.anonymousID < $1.anonymousID }
    }

    /// The shared devices that requests for some of these users, and for no others, have kept so far.
    ///
    /// No row shows any more that the users were seen with them.
    private func keptDevices(of users: Set<ExactText>) async throws -> Set<ExactText> {
        let hashes = hashes(of: users)
        return try await sharedDevices(
            of: folder.read().map(\.receipt).filter { $0.isMade(with: key) && $0.userHashes.isSubset(of: hashes) }
        )
    }

    /// The shared devices that requests have kept, as far as destinations still have their events.
    func sharedDevices(of receipts: [Receipt]) async throws(TrackerError) -> Set<ExactText> {
        let hashes = receipts.flatMap { receipt in
            receipt.sharedDevices.map { Tombstone(subject: .anonymous, hash: $0, requestedAt: receipt.requestTime) }
        }
        guard !hashes.isEmpty else { return [] }
        var devices: Set<ExactText> = []
        for tracker in trackers {
            devices.formUnion(try await tracker.identifiers(of: Tombstones(hashes, key: key)).map(\.id))
        }
        return devices
    }

    /// Counts what a request would erase, and changes nothing.
    func preview(
        _ users: Set<ExactText>,
        includesShared: Bool,
        anonymises: Bool,
        requestedAt: Timestamp
    ) async throws -> Preview {
        let devices = try await devices(of: users)
        let erased = Set(devices.filter { includesShared || !$0.isShared }.map(\.anonymousID))
        let request = ErasureRequest(
            receipt: "",
            users: users.sorted().map(\.text),
            anonymousIDs: erased.union(includesShared ? try await keptDevices(of: users) : []).sorted().map(\.text),
            requestedAt: requestedAt,
            mode: mode(anonymises: anonymises)
        )
        return Preview(devices: devices, counts: try await count(request))
    }

    /// Deletes or anonymises the events of users, and of their own devices, that were received before `requestedAt`.
    ///
    /// The receipt with the tombstones is written before anything is erased, so that an interrupted erasure can be completed. Returns
    /// the shared devices that were kept as well. The devices of an interrupted request are erased, too: rows that it has anonymised do not
    /// show them any more.
    func erase(
        _ users: Set<ExactText>,
        includesShared: Bool,
        anonymises: Bool,
        requestedAt: Timestamp,
        replacing interrupted: ReceiptFolder.Stored? = nil
    ) async throws -> (Receipt, Set<ExactText>) {
        let devices = try await devices(of: users)
        let kept = Set(includesShared ? [] : devices.filter(\.isShared).map(\.anonymousID))
        var erased = Set(devices.map(\.anonymousID)).subtracting(kept)
        if includesShared { erased.formUnion(try await keptDevices(of: users)) }
        if let interrupted { erased.formUnion(try await self.devices(of: interrupted.receipt).subtracting(kept)) }
        let receipt = Receipt(
            users: users,
            anonymousIDs: erased,
            sharedDevices: kept,
            includesShared: includesShared,
            anonymises: anonymises,
            requestedAt: requestedAt,
            key: key
        )
        var stored = try folder.add(receipt)
        try await settle()
        let request = ErasureRequest(
            receipt: receipt.id,
            users: users.sorted().map(\.text),
            anonymousIDs: erased.sorted().map(\.text),
            requestedAt: requestedAt,
            mode: mode(anonymises: anonymises)
        )
        for tracker in trackers {
            let counts = try await erase(request, of: receipt, from: tracker)
            stored.receipt.counts.add(counts.total, from: tracker)
        }
        try await finish(&stored)
        return (stored.receipt, kept)
    }

    /// The devices of a receipt that rows still name.
    private func devices(of receipt: Receipt) async throws(TrackerError) -> Set<ExactText> {
        var devices: Set<ExactText> = []
        for tracker in trackers {
            let found = try await tracker.identifiers(of: Tombstones(of: [receipt], key: key))
            devices.formUnion(found.filter { $0.subject == .anonymous }.map(\.id))
        }
        return devices
    }

    // MARK: Receipts

    /// Of some receipts, the one of a request for exactly these users that was interrupted.
    func interrupted(of users: Set<ExactText>, among receipts: [ReceiptFolder.Stored]) -> ReceiptFolder.Stored? {
        let hashes = hashes(of: users)
        return receipts.first { stored in
            stored.receipt.finishedAt == nil && stored.receipt.isMade(with: key) && stored.receipt.userHashes == hashes
        }
    }

    /// Counts what `apply` would erase, and changes nothing.
    func preview(_ receipts: [ReceiptFolder.Stored]) async throws(TrackerError) -> Receipt.Counts {
        var counts = Receipt.Counts()
        for tracker in trackers {
            let found = try await tracker.identifiers(of: Tombstones(of: receipts.map(\.receipt), key: key))
            for stored in receipts {
                counts.add(try await tracker.count(request(for: stored.receipt, found)), from: tracker)
            }
        }
        return counts
    }

    /// Erases what receipts say, for example after a backup was restored, and completes those that were interrupted.
    ///
    /// `users` are the receipts' users, if they are known: in a refused record that is not JSON, they cannot be found by their hashes.
    /// Returns what was erased now.
    func apply(_ receipts: [ReceiptFolder.Stored], of users: Set<ExactText> = []) async throws -> Receipt.Counts {
        // A request to delete must not come before an earlier one to anonymise: it would delete the rows that this one has kept.
        let receipts = receipts.sorted { $0.receipt.requestTime < $1.receipt.requestTime }
        try await settle()
        var found: [[FoundIdentifier]] = []
        for tracker in trackers {
            let identifiers = try await tracker.identifiers(of: Tombstones(of: receipts.map(\.receipt), key: key))
            found.append(Array(Set(identifiers).union(users.map { FoundIdentifier(.user, $0) })))
        }
        var erased = Receipt.Counts()
        for var stored in receipts {
            var total = Receipt.Counts()
            for (tracker, found) in zip(trackers, found) {
                let request = request(for: stored.receipt, found)
                let counts = try await erase(request, of: stored.receipt, from: tracker)
                total.add(counts.total, from: tracker)
                erased.add(counts.now, from: tracker)
            }
            guard stored.receipt.finishedAt == nil else { continue }
            stored.receipt.counts = total
            try await finish(&stored)
        }
        return erased
    }

    /// Whose identifiers a receipt has, among those that were found.
    private func request(for receipt: Receipt, _ found: [FoundIdentifier]) -> ErasureRequest {
        let known = Set(receipt.tombstones)
        let own = found.filter { identifier in
            let hash = key.tombstoneHash(of: identifier.id.text, identifier.subject).text
            return known.contains(Receipt.Entry(subject: identifier.subject.rawValue, hash: hash))
        }
        return ErasureRequest(
            receipt: receipt.id,
            users: own.filter { $0.subject == .user }.map(\.id).sorted().map(\.text),
            anonymousIDs: own.filter { $0.subject == .anonymous }.map(\.id).sorted().map(\.text),
            requestedAt: receipt.requestTime,
            mode: mode(anonymises: receipt.anonymises)
        )
    }

    private func mode(anonymises: Bool) -> ErasureMode { anonymises ? .anonymise(plan) : .delete }

    // MARK: Steps

    /// Waits until processes that run know the receipts.
    private func settle() async throws {
        try await clock.sleepUntil(clock.now() + Self.settleTime)
    }

    /// Erases what a request says, and stores the tombstones of its receipt afterwards.
    ///
    /// `sluice check` takes the stored tombstones as proof that the rows are gone. So an erasure that stops halfway must not have stored
    /// them, and no backup may have them together with the rows.
    private func erase(
        _ request: ErasureRequest,
        of receipt: Receipt,
        from tracker: any ErasingTracker
    ) async throws(TrackerError) -> ErasureCounts {
        let counts = try await tracker.erase(request)
        try await tracker.store(receipt.datedTombstones, ofReceipt: receipt.id)
        return counts
    }

    private func hashes(of users: Set<ExactText>) -> Set<String> {
        Set(users.map { key.tombstoneHash(of: $0.text, .user).text })
    }

    private func finish(_ stored: inout ReceiptFolder.Stored) async throws {
        stored.receipt.remains = await remainders(stored.receipt.requestTime)
        stored.receipt.finishedAt = Timestamp.now().description
        try ReceiptFolder.update(stored)
    }

    private func count(_ request: ErasureRequest) async throws(TrackerError) -> Receipt.Counts {
        var counts = Receipt.Counts()
        for tracker in trackers { counts.add(try await tracker.count(request), from: tracker) }
        return counts
    }
}
