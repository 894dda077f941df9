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
        var counts = MetricHistory.Counts()
        counts.accepted = statistics.accepted
        counts.rejected = registry.sum(of: PipelineMetrics.rejectedName)
        for tracker in statistics.trackers {
            counts.delivered[tracker.name] = tracker.delivered
            counts.lag[tracker.name] = tracker.lagEvents
        }
        counts.requestTimes = registry.buckets(of: HTTPMetrics.durationsName)
        counts.commitTimes = registry.buckets(of: PipelineMetrics.commitsName)
        counts.deliveryTimes = registry.buckets(of: PipelineMetrics.deliveriesName)
        return counts
    }
}
