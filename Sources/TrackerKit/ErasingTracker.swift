package import EventModel
package import EventSchema
package import EventValidation

/// A tracker that can erase a person's events from its destination; `sluice forget` calls it.
package protocol ErasingTracker: Tracker {
    /// The devices on which these users were seen, who are erased together.
    ///
    /// - Throws: Why the destination cannot be read.
    func devices(of users: Set<ExactText>) async throws(TrackerError) -> [SeenDevice]

    /// The identifiers in the destination that these tombstones are of.
    ///
    /// It reads every identifier there, because a tombstone does not reveal its own.
    ///
    /// - Throws: Why the destination cannot be read.
    func identifiers(of tombstones: Tombstones) async throws(TrackerError) -> [FoundIdentifier]

    /// How many events `erase` would delete or anonymise now, by place.
    ///
    /// - Throws: Why the destination cannot be read.
    func count(_ request: ErasureRequest) async throws(TrackerError) -> [ErasedEvents]

    /// Stores the tombstones of a request, which replace older ones of the same identifiers.
    ///
    /// - Throws: Why the destination cannot store them.
    func store(_ tombstones: [Tombstone], ofReceipt receipt: String) async throws(TrackerError)

    /// Deletes or anonymises events, as the request's mode says, and returns how many.
    ///
    /// It can be interrupted at any time, and called again with the same request. Without identifiers, it only completes what an earlier
    /// call has begun.
    ///
    /// - Throws: Why the destination cannot erase them; a part may have been erased.
    func erase(_ request: ErasureRequest) async throws(TrackerError) -> ErasureCounts

    /// The tombstones that the destination stores; none if it has never stored any.
    ///
    /// - Throws: Why the destination cannot be read.
    func storedTombstones() async throws(TrackerError) -> [Tombstone]
}

/// What an erasure does to the events of a person.
package enum ErasureMode: Sendable, Hashable {
    /// They are deleted.
    case delete
    /// They are kept without identifiers, without the context, and without properties that this plan marks as sensitive or does not
    /// describe.
    ///
    /// What cannot be kept without them is deleted: for example an event that the destination has refused.
    case anonymise(TrackingPlan)
}

/// Whose events to erase.
package struct ErasureRequest: Sendable, Hashable {
    /// The receipt that counts them: a UUID.
    package let receipt: String
    /// The values of `userId`; all their events are erased.
    package let users: [String]
    /// The values of `anonymousId`; their events without a user are erased.
    package let anonymousIDs: [String]
    /// Only events that were received before this time are erased.
    package let requestedAt: Timestamp
    /// Whether they are deleted or anonymised.
    package let mode: ErasureMode

    package init(
        receipt: String,
        users: [String],
        anonymousIDs: [String],
        requestedAt: Timestamp,
        mode: ErasureMode
    ) {
        self.receipt = receipt
        self.users = users
        self.anonymousIDs = anonymousIDs
        self.requestedAt = requestedAt
        self.mode = mode
    }
}

/// An `anonymousId` with which users were seen.
package struct SeenDevice: Sendable, Hashable {
    /// The value of `anonymousId`.
    package let anonymousID: ExactText
    /// Whether another user was seen with it who is not erased, so that it is not known whose its events without a user are.
    package let isShared: Bool

    package init(anonymousID: ExactText, isShared: Bool) {
        self.anonymousID = anonymousID
        self.isShared = isShared
    }
}

/// An identifier in a destination that a tombstone is of.
package struct FoundIdentifier: Sendable, Hashable {
    package let subject: Tombstone.Subject
    package let id: ExactText

    package init(_ subject: Tombstone.Subject, _ id: ExactText) {
        self.subject = subject
        self.id = id
    }
}

/// How many events were deleted or anonymised in a place.
package struct ErasedEvents: Sendable, Hashable {
    /// The place, such as a table with its schema.
    package let place: String
    package let count: Int
    /// Whether they were anonymised instead of deleted.
    package let isAnonymised: Bool

    package init(place: String, count: Int, isAnonymised: Bool = false) {
        self.place = place
        self.count = count
        self.isAnonymised = isAnonymised
    }
}

/// How many events an erasure has deleted or anonymised, by place.
package struct ErasureCounts: Sendable, Hashable {
    /// For the receipt, since it was made.
    package let total: [ErasedEvents]
    /// By this call.
    package let now: [ErasedEvents]

    /// Creates it from what was erased for the receipt so far, and before this call.
    package init(total: [ErasedEvents], earlier: [ErasedEvents]) {
        self.total = total
        let earlier = Dictionary(earlier.map { ($0.place, $0.count) }) { $0 + $1 }
        now = total.compactMap { place in
            let count = place.count - earlier[place.place, default: 0]
            guard count > 0 else { return nil }
            return ErasedEvents(place: place.place, count: count, isAnonymised: place.isAnonymised)
        }
    }
}
