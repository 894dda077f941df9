public import EventPipeline
import SluiceHTTP

/// Something with metrics that are known only when somebody asks.
public protocol GaugeSource: Sendable {
    /// Records them.
    func recordGauges()
}

/// What the private port shows of a pipeline, and changes of it.
///
/// `Pipeline` conforms to it. It is a protocol, so that the port can be tested with states that are hard to reach.
public protocol OperatedPipeline: GaugeSource {
    /// What the pipeline has done so far, and what its trackers do now.
    var statistics: PipelineStatistics { get }
    /// Why the pipeline does not accept events now; empty if it is ready.
    var unreadyReasons: [UnreadyReason] { get }
    /// What identifies the plan.
    var planSummary: PlanSummary { get }

    /// What the pipeline has seen of each event of the plan.
    var eventStatistics: [EventStatistics] { get }
    /// How many events were rejected, of all kinds.
    var rejectedEvents: Int { get }
    /// The kinds of events that were rejected, the latest first.
    var rejectionStatistics: [RejectionStatistics] { get }
    /// The events that pass from now on; `nil` if too many others watch.
    func watch(_ filter: Pipeline.WatchFilter) -> Pipeline.Watch?

    /// Pauses a tracker until it is resumed; false if there is no tracker of this name.
    func pause(tracker name: String) -> Bool
    /// Lets a paused tracker deliver again; false if there is no tracker of this name.
    func resume(tracker name: String) -> Bool
    /// Opens or closes the intake of events.
    func setAcceptsEvents(_ accepts: Bool)
}

extension Pipeline: OperatedPipeline {
    /// Opens or closes the intake of events.
    public func setAcceptsEvents(_ accepts: Bool) {
        acceptsEvents = accepts
    }
}

extension IngestServer: GaugeSource {}
extension IngestEndpoint: GaugeSource {}
