public import EventPipeline
import SluiceHTTP

/// Something with metrics that are known only when somebody asks.
public protocol GaugeSource: Sendable {
    /// Records them.
    func recordGauges()
}

/// What the private port shows of a pipeline.
///
/// `Pipeline` conforms to it. It is a protocol, so that the port can be tested with states that are hard to reach.
public protocol ObservedPipeline: GaugeSource {
    /// What the pipeline has done so far, and what its trackers do now.
    var statistics: PipelineStatistics { get }
    /// Why the pipeline does not accept events now; empty if it is ready.
    var unreadyReasons: [UnreadyReason] { get }
    /// The version that the plan states, and its number of events.
    var plan: (version: String?, events: Int) { get }
}

extension Pipeline: ObservedPipeline {
    /// The version that the plan states, and its number of events.
    public var plan: (version: String?, events: Int) { planSummary }
}

extension IngestServer: GaugeSource {}
extension IngestEndpoint: GaugeSource {}
