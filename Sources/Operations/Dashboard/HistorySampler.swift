import EventModel
import EventPipeline
import ServiceLifecycle
import SluiceHTTP

/// Takes the samples of the dashboard's charts while the private port runs.
struct HistorySampler: Service {
    let history: MetricHistory
    let pipeline: any OperatedPipeline
    let registry: PrometheusRegistry
    let clock: RelativeClock

    func run() async {
        await cancelWhenGracefulShutdown {
            repeat {
                history.add(counts, now: clock.now(), time: .now())
            } while (try? await clock.sleepUntil(clock.now() + MetricHistory.interval)) != nil
        }
    }

    private var counts: MetricHistory.Counts {
        let statistics = pipeline.statistics
        return MetricHistory.Counts(
            accepted: statistics.accepted,
            rejected: registry.sum(of: PipelineMetrics.rejectedName),
            delivered: Dictionary(statistics.trackers.map { ($0.name, $0.delivered) }, uniquingKeysWith: { $1 }),
            lag: Dictionary(statistics.trackers.map { ($0.name, $0.lagEvents) }, uniquingKeysWith: { $1 }),
            requestTimes: registry.buckets(of: HTTPMetrics.durationsName),
            commitTimes: registry.buckets(of: PipelineMetrics.commitsName)
        )
    }
}
