import Foundation
import Hummingbird
import Logging
import Sluice

/// The service: settings from the environment, one pipeline, one server.
@main
struct App {
    static func main() async {
        let logger = Logger(label: "food-orders")
        do {
            try await run(logger: logger)
        } catch {
            // A port or a journal that is in use is an ordinary error, which needs no stack trace.
            logger.critical("The service ends.", metadata: ["error": "\(error)"])
            exit(1)
        }
    }

    private static func run(logger: Logger) async throws {
        let environment = Environment()
        let ledger = RevenueLedger()
        let pipeline = try Pipeline(
            catalog: AppEvents.catalog,
            trackers: [.console(.json), RevenueTracker(ledger: ledger)],
            // An event is acknowledged once it is in the journal; undelivered events are delivered after a restart.
            journal: .directory(environment.get("JOURNAL") ?? "journal"),
            logger: logger
        )
        let app = buildApplication(
            router: buildRouter(pipeline: pipeline, ledger: ledger),
            pipeline: pipeline,
            configuration: ApplicationConfiguration(
                address: .hostname("127.0.0.1", port: environment.get("PORT", as: Int.self) ?? 8080)
            ),
            logger: logger
        )
        try await app.runService()
    }
}
