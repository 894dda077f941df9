import Events
import Logging
import Metrics
import Operations
import ServiceLifecycle
import Sluice

func operate(logger: Logger) async throws {
    let registry = PrometheusRegistry()
    MetricsSystem.bootstrap(registry)
    let pipeline = try Pipeline(catalog: ShopEvents.catalog, trackers: [.console()], journal: "data/journal")
    let operations = try OperationsServer(
        pipeline: pipeline,
        registry: registry,
        programVersion: "1.0",
        logger: logger
    )
    // The first service is shut down last, so the port shows how the queues are drained.
    try await ServiceGroup(services: [operations, pipeline], gracefulShutdownSignals: [.sigterm], logger: logger).run()
}
