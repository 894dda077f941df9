import Events
import Logging
import ServiceLifecycle
import Sluice
import SluiceHTTP

func serve(pipeline: Pipeline, logger: Logger) async throws {
    let server = HTTPIngestServer(
        configuration: HTTPIngestConfiguration(host: "127.0.0.1", port: 8080),
        catalog: ShopEvents.catalog,
        pipeline: pipeline,
        logger: logger
    )
    try await ServiceGroup(services: [pipeline, server], gracefulShutdownSignals: [.sigterm], logger: logger).run()
}
