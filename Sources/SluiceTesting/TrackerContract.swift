public import EventModel
public import EventSchema
public import TrackerKit

/// Holds a tracker to the promises of the `Tracker` protocol, against a real destination; one that is a
/// `CheckpointingTracker` to those, too.
///
///     try await TrackerContract(
///         makeTracker: { MyTracker(url: server.url) },
///         delivered: { try await server.storedIDs() }
///     ).verify()
///
/// It works with any test framework: a promise that is not kept is an error that names it. The destination must be
/// healthy, and ready for the events of `plan(trackerName:)`; it may hold other events, and those of earlier runs.
public struct TrackerContract: Sendable {
    /// What a tracker promises beyond the protocol, or less because of its destination.
    public struct Traits: Sendable {
        /// Whether `delivered` lists the events in the order in which they were delivered.
        ///
        /// Default: true.
        public var keepsOrder: Bool
        /// Whether an event that is delivered again is there only once.
        ///
        /// Default: false.
        public var deduplicates: Bool
        /// How many events the largest delivery has.
        ///
        /// Default: 20,001, twice the pipeline's limit.
        public var largestDeliveryInEvents: Int
        /// How many bytes the largest event has, about.
        ///
        /// Default: 512 KiB.
        public var largestEventInBytes: Int
        /// How soon `deliver` must return after its cancellation.
        ///
        /// Default: one second, as the protocol says.
        public var cancellationLimit: Duration

        /// Takes the defaults, or what is stated instead.
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

    /// How to make the destination unreachable or unresponsive, and well again.
    public struct Outage: Sendable {
        let begin: @Sendable () async throws -> Void
        let end: @Sendable () async throws -> Void

        /// Takes the two switches; `end` is called also when a promise was broken in between.
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
        /// One promise, in words, and what happened instead.
        public struct Promise: Sendable, Hashable {
            /// What was promised.
            public let promise: String
            /// What happened instead.
            public let instead: String
        }

        /// All of them, in the order in which they were looked at.
        public let promises: [Promise]

        /// A line for each.
        public var description: String {
            promises.map { "broken promise: \($0.promise); instead: \($0.instead)" }.joined(separator: "\n")
        }
    }

    let traits: Traits
    let outage: Outage?
    let makeTracker: @Sendable () async throws -> any Tracker
    let delivered: @Sendable () async throws -> [EventID]

    /// Takes what the contract needs to know of a tracker.
    ///
    /// `makeTracker` makes a new tracker for the same destination each time. `delivered` reads back from the
    /// destination the ids of all events in it, each as often as it is there; events of others may be among them.
    /// With an `outage` the contract also looks at how a delivery fails.
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

    /// The plan whose events the contract delivers, for destinations that must be made ready for it.
    public static func plan(trackerName: String) -> TrackingPlan {
        ContractEvents.plan(trackerName: trackerName)
    }

    /// Looks at every promise.
    ///
    /// - Throws: `BrokenPromises` that names all that were not kept.
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
