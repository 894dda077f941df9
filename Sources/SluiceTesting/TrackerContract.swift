public import EventModel
public import EventSchema
public import TrackerKit

/// Tests whether a tracker keeps the promises of the `Tracker` protocol, with a real destination.
///
/// A `CheckpointingTracker` is tested for the promises of that protocol, too.
///
///     try await TrackerContract(
///         makeTracker: { MyTracker(url: server.url) },
///         delivered: { try await server.storedIDs() }
///     ).verify()
///
/// It works with any test framework: a broken promise is an error that names it. The destination must be healthy and ready for
/// the events of `plan(trackerName:)`; it may contain other events, and those of earlier runs.
public struct TrackerContract: Sendable {
    /// The promises of a tracker that depend on its destination, and the limits of the test.
    public struct Traits: Sendable {
        /// Whether `delivered` lists the events in the order in which they were delivered.
        ///
        /// Default: true.
        public var keepsOrder: Bool
        /// Whether an event that is delivered again is stored only once.
        ///
        /// Default: false.
        public var deduplicates: Bool
        /// The number of events in the largest delivery.
        ///
        /// Default: 20,001, twice the pipeline's limit.
        public var largestDeliveryInEvents: Int
        /// The approximate size of the largest event, in bytes.
        ///
        /// Default: 512 KiB.
        public var largestEventInBytes: Int
        /// The time within which `deliver` must return after its cancellation.
        ///
        /// Default: one second, as the protocol requires.
        public var cancellationLimit: Duration

        /// Creates promises; see the properties for the defaults.
        public init(
            keepsOrder: Bool = true,
            deduplicates: Bool = false,
            largestDeliveryInEvents: Int = 20_001,
            largestEventInBytes: Int = 512 << 10,
            cancellationLimit: Duration = .seconds(1)
        ) {
            self.keepsOrder = keepsOrder
            self.deduplicates = deduplicates
            self.largestDeliveryInEvents = largestDeliveryInEvents
            self.largestEventInBytes = largestEventInBytes
            self.cancellationLimit = cancellationLimit
        }
    }

    /// How to make the destination unreachable or unresponsive, and available again.
    public struct Outage: Sendable {
        let begin: @Sendable () async throws -> Void
        let end: @Sendable () async throws -> Void

        /// Creates an outage; `end` is called even if a promise was broken in between.
        public init(
            begin: @escaping @Sendable () async throws -> Void,
            end: @escaping @Sendable () async throws -> Void
        ) {
            self.begin = begin
            self.end = end
        }
    }

    /// The promises that were not kept.
    public struct BrokenPromises: Error, Sendable, CustomStringConvertible {
        /// A broken promise, and what happened instead.
        public struct Promise: Sendable, Hashable {
            /// The promise.
            public let promise: String
            /// What happened instead.
            public let instead: String
        }

        /// All broken promises, in the order in which they were tested.
        public let promises: [Promise]

        /// One line per broken promise.
        public var description: String {
            promises.map { "broken promise: \($0.promise); instead: \($0.instead)" }.joined(separator: "\n")
        }
    }

    let traits: Traits
    let outage: Outage?
    let makeTracker: @Sendable () async throws -> any Tracker
    let delivered: @Sendable () async throws -> [EventID]

    /// Creates a test of a tracker.
    ///
    /// `makeTracker` creates a new tracker for the same destination at each call. `delivered` returns the ids of all events in the
    /// destination, each as often as it is there, possibly among those of other events. With an `outage`, the contract also
    /// tests failing deliveries.
    public init(
        traits: Traits = Traits(),
        outage: Outage? = nil,
        makeTracker: @escaping @Sendable () async throws -> any Tracker,
        delivered: @escaping @Sendable () async throws -> [EventID]
    ) {
        self.traits = traits
        self.outage = outage
        self.makeTracker = makeTracker
        self.delivered = delivered
    }

    /// The plan of the events that the contract delivers, for destinations that must be prepared for it.
    public static func plan(trackerName: String) -> TrackingPlan {
        ContractEvents.plan(trackerName: trackerName)
    }

    /// Tests every promise.
    ///
    /// - Throws: `BrokenPromises`, with all promises that were not kept.
    public func verify() async throws {
        var broken: [BrokenPromises.Promise] = []
        for check in checks {
            do {
                try await check.verify()
            } catch let violation as Violated {
                broken.append(.init(promise: check.promise, instead: violation.instead))
            } catch {
                broken.append(.init(promise: check.promise, instead: "it threw \(error)"))
            }
        }
        if !broken.isEmpty { throw BrokenPromises(promises: broken) }
    }
}

/// What happened instead of what was promised.
struct Violated: Error {
    let instead: String

    init(_ instead: String) {
        self.instead = instead
    }
}
