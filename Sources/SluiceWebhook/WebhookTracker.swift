package import EventModel
public import EventValidation
import NIOHTTP1
public import TrackerKit

/// Sends events to a server of yours over HTTP or HTTPS: a webhook.
///
/// A request that has no answer, or one that says "later", is retried, so an event can arrive twice, which its `id` and the request's
/// `webhook-id` show. `Documentation/Operate/Trackers.md` says what each status means.
public final class WebhookTracker: CheckableTracker {
    private let configuration: WebhookConfiguration
    private let sender: RequestSender

    /// The name that refers to the tracker in the plan: the configuration's.
    public var name: String { configuration.name }

    /// Creates a tracker.
    public convenience init(_ configuration: WebhookConfiguration) {
        self.init(configuration, clock: ContinuousClock()) { .now() }
    }

    /// Creates a tracker with a clock for time limits and pauses, and one for the times of requests.
    package init(
        _ configuration: WebhookConfiguration,
        clock: some Clock<Duration>,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.configuration = configuration
        let dialect = RequestSender.Dialect(
            tracker: configuration.name,
            method: configuration.method == .post ? .POST : .PUT,
            form: configuration.form,
            signingKeyFile: configuration.signingKeyFile,
            maximumEvents: configuration.format == .single ? 1 : .max,
            sufficientAnswerBytes: AnswerVerdict.maximumReasonBytes,
            fields: [],
            verdict: { answer, _, now in AnswerVerdict(webhook: answer, now: now) }
        )
        sender = RequestSender(configuration.receiver, dialect, clock: RelativeClock(clock), now: now)
    }

    /// With one event in each request, fewer events at a time, so that a delivery takes seconds; otherwise `nil`.
    public var deliveryLimits: DeliveryLimits? { Self.deliveryLimits(of: configuration) }

    /// Checks the address and the header's fields.
    ///
    /// - Throws: `invalidSettings`.
    public func checkSettings(for catalog: EventCatalog) throws(TrackerError) {
        try configuration.receiver.check(allowsQuery: true)
    }

    /// Reads the files with certificates and secrets.
    ///
    /// - Throws: `notPrepared` if one is missing or unusable.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {
        try await sender.start()
    }

    /// Reads the files, and sends a request without events (HEAD); whatever its status, the receiver can be reached.
    public func problems(in pipeline: PipelineOutline) async -> [TrackerError] {
        do throws(TrackerError) {
            try await sender.start()
            _ = try await sender.send(.HEAD, to: configuration.receiver.url)
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
}

extension WebhookConfiguration {
    fileprivate var form: RequestBody.Form {
        switch format {
        case .ndjson: .lines
        case .json: .array
        case .cloudevents: .cloudEvents(source: source)
        case .single: .single
        }
    }
}

extension Tracker where Self == WebhookTracker {
    /// A tracker that sends events to a server over HTTP.
    ///
    /// - Parameters:
    ///   - url: The address of the server, with `http` or `https`.
    ///   - name: The name that refers to the tracker in the plan. Default: `webhook`.
    /// - Returns: A tracker to give to a pipeline, which starts it.
    public static func webhook(_ url: String, name: String = WebhookConfiguration.defaultName) -> WebhookTracker {
        WebhookTracker(WebhookConfiguration(url: url, name: name))
    }
}
