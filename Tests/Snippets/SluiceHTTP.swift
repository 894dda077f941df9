import Events
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Sluice
import SluiceHTTP

func serve(pipeline: Pipeline, logger: Logger) async throws {
    let server = IngestServer(
        configuration: IngestConfiguration(host: "127.0.0.1", port: 8080),
        catalog: ShopEvents.catalog,
        pipeline: pipeline,
        logger: logger
    )
    try await ServiceGroup(services: [pipeline, server], gracefulShutdownSignals: [.sigterm], logger: logger).run()
}

func serveWithKeys(pipeline: Pipeline, logger: Logger) async throws {
    let keys = WriteKeys(catalog: ShopEvents.catalog)
    let file = KeyFileService(path: "keys.json", keys: keys, logger: logger)
    try file.load()
    let server = IngestServer(
        configuration: IngestConfiguration(host: "0.0.0.0", port: 8080),
        catalog: ShopEvents.catalog,
        pipeline: pipeline,
        keys: keys,
        logger: logger
    )
    try await ServiceGroup(services: [pipeline, file, server], gracefulShutdownSignals: [.sigterm], logger: logger)
        .run()
}

func serveInBootstrap(_ group: any EventLoopGroup, pipeline: Pipeline, logger: Logger) async throws {
    let endpoint = try IngestEndpoint(catalog: ShopEvents.catalog, pipeline: pipeline, logger: logger)
    let channel = try await ServerBootstrap(group: group)
        .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try endpoint.configurePipeline(of: channel) }
        }
        .bind(unixDomainSocketPath: "/run/shop/events.sock")
        .get()
    // Until the program is asked to stop; then:
    try await channel.close()
    await endpoint.shutDown(on: group.next())
}
