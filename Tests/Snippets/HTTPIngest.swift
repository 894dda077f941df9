import EventPipeline
import Events
import HTTPIngest
import Logging
import ServiceLifecycle

func serve(pipeline: Pipeline, logger: Logger) async throws {
    let server = HTTPIngestServer(
        configuration: HTTPIngestConfiguration(host: "127.0.0.1", port: 8080),
        catalog: .events,
        pipeline: pipeline,
        logger: logger
    )
    try await ServiceGroup(services: [pipeline, server], gracefulShutdownSignals: [.sigterm], logger: logger).run()
}
