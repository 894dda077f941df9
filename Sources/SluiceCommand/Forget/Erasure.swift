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
        let counts: ErasureCounts
    }

    // MARK: A new request

    /// The devices of users, over all destinations.
    func devices(of users: Set<String>) async throws(TrackerError) -> [SeenDevice] {
        var devices: [String: SeenDevice] = [:]
        for tracker in trackers {
            for device in try await tracker.devices(of: users) {
                devices[device.anonymousID, default: device].users.formUnion(device.users)
            }
        }
        return devices.values.sorted { $0.anonymousID < $1.anonymousID }
    }

    /// Counts what a request would erase, and changes nothing.
    func preview(
        _ users: Set<String>,
        includesShared: Bool,
        anonymises: Bool,
        requestedAt: Timestamp
    ) async throws(TrackerError) -> Preview {
        let devices = try await devices(of: users)
        let request = ErasureRequest(
            receipt: "",
            users: users.sorted(),
            anonymousIDs: devices.filter { includesShared || !$0.isShared }.map(\.anonymousID),
            requestedAt: requestedAt,
            mode: mode(anonymises: anonymises)
        )
        return Preview(devices: devices, counts: try await count(request))
    }

    /// Deletes or anonymises the events of users, and of their own devices, that were received before `requestedAt`.
    ///
    /// The receipt with the tombstones is written before anything is erased, so that an interrupted erasure can be completed.
    func erase(
        _ users: Set<String>,
        includesShared: Bool,
        anonymises: Bool,
        requestedAt: Timestamp
    ) async throws -> (Receipt, [SeenDevice]) {
        let devices = try await devices(of: users)
        let kept = includesShared ? [] : devices.filter(\.isShared)
        let erased = Set(devices.map(\.anonymousID)).subtracting(kept.map(\.anonymousID))
        let receipt = Receipt(
            users: users,
            anonymousIDs: erased,
            sharedDevices: Set(kept.map(\.anonymousID)),
            includesShared: includesShared,
            anonymises: anonymises,
            requestedAt: requestedAt,
            key: key
        )
        let stored = try folder.add(receipt)
        try await publish([receipt])
        let request = ErasureRequest(
            receipt: receipt.id,
            users: users.sorted(),
            anonymousIDs: erased.sorted(),
            requestedAt: requestedAt,
            mode: mode(anonymises: anonymises)
        )
        return (try await complete(stored, request), kept)
    }

    // MARK: Receipts

    /// Of some receipts, the one of a request for exactly these users that was interrupted.
    func interrupted(of users: Set<String>, among receipts: [ReceiptFolder.Stored]) -> ReceiptFolder.Stored? {
        let hashes = Set(users.map { key.tombstoneHash(of: $0, .user).text })
        return receipts.first { stored in
            stored.receipt.finishedAt == nil && stored.receipt.isMade(with: key) && stored.receipt.userHashes == hashes
        }
    }

    /// Counts what `apply` would erase, and changes nothing.
    func preview(_ receipts: [ReceiptFolder.Stored]) async throws(TrackerError) -> ErasureCounts {
        var counts = ErasureCounts()
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
    /// Returns what was erased now.
    func apply(_ receipts: [ReceiptFolder.Stored]) async throws -> ErasureCounts {
        try await publish(receipts.map(\.receipt))
        var found: [[FoundIdentifier]] = []
        for tracker in trackers {
            found.append(try await tracker.identifiers(of: Tombstones(of: receipts.map(\.receipt), key: key)))
        }
        var counts = ErasureCounts()
        for var stored in receipts {
            var own = ErasureCounts()
            for (tracker, found) in zip(trackers, found) {
                let request = request(for: stored.receipt, found)
                let isDone = stored.receipt.finishedAt != nil && request.users.isEmpty && request.anonymousIDs.isEmpty
                if isDone { continue }
                own.add(try await tracker.erase(request), from: tracker)
            }
            counts.add(own)
            guard stored.receipt.finishedAt == nil else { continue }
            stored.receipt.counts = own
            try await finish(&stored)
        }
        return counts
    }

    /// Whose identifiers a receipt has, among those that were found.
    private func request(for receipt: Receipt, _ found: [FoundIdentifier]) -> ErasureRequest {
        let known = Set(receipt.tombstones)
        let own = found.filter { identifier in
            let hash = key.tombstoneHash(of: identifier.text, identifier.subject).text
            return known.contains(Receipt.Entry(subject: identifier.subject.rawValue, hash: hash))
        }
        return ErasureRequest(
            receipt: receipt.id,
            users: own.filter { $0.subject == .user }.map(\.text).sorted(),
            anonymousIDs: own.filter { $0.subject == .anonymous }.map(\.text).sorted(),
            requestedAt: receipt.requestTime,
            mode: mode(anonymises: receipt.anonymises)
        )
    }

    private func mode(anonymises: Bool) -> ErasureMode { anonymises ? .anonymise(plan) : .delete }

    // MARK: Steps

    /// Stores the tombstones, and waits until processes that run know them.
    private func publish(_ receipts: [Receipt]) async throws {
        for tracker in trackers {
            for receipt in receipts {
                try await tracker.store(receipt.datedTombstones, ofReceipt: receipt.id)
            }
        }
        try await clock.sleepUntil(clock.now() + Self.settleTime)
    }

    private func complete(_ stored: ReceiptFolder.Stored, _ request: ErasureRequest) async throws -> Receipt {
        var stored = stored
        for tracker in trackers {
            stored.receipt.counts.add(try await tracker.erase(request), from: tracker)
        }
        try await finish(&stored)
        return stored.receipt
    }

    private func finish(_ stored: inout ReceiptFolder.Stored) async throws {
        stored.receipt.remains = await remainders(stored.receipt.requestTime)
        stored.receipt.finishedAt = Timestamp.now().description
        try ReceiptFolder.update(stored)
    }

    private func count(_ request: ErasureRequest) async throws(TrackerError) -> ErasureCounts {
        var counts = ErasureCounts()
        for tracker in trackers { counts.add(try await tracker.count(request), from: tracker) }
        return counts
    }
}

/// How many events were deleted and how many anonymised, or would be.
struct ErasureCounts {
    var erased: [Receipt.Erased] = []
    var anonymised: [Receipt.Erased] = []

    mutating func add(_ events: [ErasedEvents], from tracker: any ErasingTracker) {
        for event in events {
            let counted = Receipt.Erased(tracker: tracker.name, place: event.place, events: event.count)
            if event.isAnonymised { anonymised.append(counted) } else { erased.append(counted) }
        }
    }

    mutating func add(_ other: ErasureCounts) {
        erased += other.erased
        anonymised += other.anonymised
    }
}
