import Operations
import ServiceLifecycle

/// Writes all metrics out once a second, as if Prometheus asked for them that often; nothing without sources.
struct Scraper: Service {
    let registry: PrometheusRegistry
    let sources: [any GaugeSource]

    func run() async {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: .seconds(1))) != nil {
                guard !sources.isEmpty else { continue }
                for source in sources { source.recordGauges() }
                precondition(!registry.text.isEmpty)
            }
        }
    }
}
