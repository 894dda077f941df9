import EventModel
public import EventValidation
import NIOHTTP1
public import TrackerKit

/// Forwards events to another Sluice over HTTP, so that nodes with journals of their own can send to a central one.
///
/// An event keeps its id, so the other Sluice's destinations can detect a repetition. What the other Sluice rejects is refused with its
/// verdict; anything else that it does not accept is retried.
public final class SluiceTracker: CheckableTracker {
    private let configuration: SluiceConfiguration
    private let sender: RequestSender

    /// The name that refers to the tracker in the plan: the configuration's.
    public var name: String { configuration.name }

    /// Creates a tracker.
    public convenience init(_ configuration: SluiceConfiguration) {
        self.init(configuration, clock: ContinuousClock())
    }

    /// Creates a tracker with a clock for time limits and pauses.
    package init(_ configuration: SluiceConfiguration, clock: some Clock<Duration>) {
        self.configuration = configuration
        var receiver = configuration.receiver
        receiver.url = Self.address(of: receiver.url, "/v1/events")
        let dialect = RequestSender.Dialect(
            tracker: configuration.name,
            method: .POST,
            form: .linesToSluice,
            signingKeyFile: nil,
            maximumEvents: .max,
            sufficientAnswerBytes: nil,
            // A setting must not make a request all or nothing.
            fields: [("sluice-strict", "false")],
            verdict: { answer, count, now in SluiceAnswer.verdict(answer, to: count, now: now) }
        )
        sender = RequestSender(receiver, dialect, clock: RelativeClock(clock)) { .now() }
    }

    /// Checks the address and the header's fields.
    ///
    /// - Throws: `invalidSettings`.
    public func checkSettings(for catalog: EventCatalog) throws(TrackerError) {
        try configuration.receiver.check(allowsQuery: false)
    }

    /// Reads the files with certificates and secrets.
    ///
    /// - Throws: `notPrepared` if one is missing or unusable.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {
        try await sender.start()
    }

    /// Asks the other Sluice for its plan, which shows that it can be reached and knows the write key.
    public func problems(in pipeline: PipelineOutline) async -> [TrackerError] {
        do throws(TrackerError) {
            try await sender.start()
            let answer = try await sender.send(.GET, to: Self.address(of: configuration.receiver.url, "/v1/plan"))
            guard answer.status == 200 else {
                guard case .retry(let error, _) = AnswerVerdict.failure(answer, now: .now()) else { return [] }
                return [error]
            }
            return []
        } catch {
            return [error]
        }
    }

    /// Sends the events, and waits for the answers.
    public func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        await sender.deliver(delivery)
    }

    /// Closes the connections.
    public func stop() async {
        await sender.stop()
    }

    private static func address(of url: String, _ path: String) -> String {
        (url.hasSuffix("/") ? String(url.dropLast()) : url) + path
    }
}

extension Tracker where Self == SluiceTracker {
    /// A tracker that forwards events to another Sluice.
    ///
    /// - Parameters:
    ///   - url: The address of its public port, without a path.
    ///   - writeKeyFile: The file with the write key; `nil` if the other Sluice needs none.
    ///   - name: The name that refers to the tracker in the plan. Default: `sluice`.
    /// - Returns: A tracker to give to a pipeline, which starts it.
    public static func sluice(
        _ url: String,
        writeKeyFile: String? = nil,
        name: String = SluiceConfiguration.defaultName
    ) -> SluiceTracker {
        var configuration = SluiceConfiguration(url: url, name: name)
        configuration.receiver.bearerTokenFile = writeKeyFile
        return SluiceTracker(configuration)
    }
}
