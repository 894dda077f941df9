import Events
import Sluice
import SluiceExec
import SluiceFile
import SluiceKafka
import SluicePostgres
import SluiceSocket
import SluiceWebhook

func useConsole() throws -> Pipeline {
    let pipeline = try Pipeline(catalog: ShopEvents.catalog, trackers: [.console(.json)])
    return pipeline
}

func useKafka() throws -> Pipeline {
    let pipeline = try Pipeline(
        catalog: ShopEvents.catalog,
        trackers: [.kafka("localhost:9092", topic: "shop.{event}")],
        journal: "data/journal"
    )
    return pipeline
}

func useExec() throws -> Pipeline {
    let pipeline = try Pipeline(
        catalog: ShopEvents.catalog,
        trackers: [.exec(["/usr/local/bin/to-crm", "--region", "eu"], name: "crm")],
        journal: "data/journal"
    )
    return pipeline
}

func useFiles() throws -> Pipeline {
    let pipeline = try Pipeline(
        catalog: ShopEvents.catalog,
        trackers: [.file("archive/{event}/{yyyy}-{MM}-{dd}/{HH}-{node}.ndjson.gz", name: "archive")],
        journal: "data/journal"
    )
    return pipeline
}

func useSinger() -> ExecTracker {
    let lake = ExecTracker.exec(["target-snowflake", "--config", "snowflake.json"], protocol: .singer, name: "lake")
    return lake
}

func useWebhooks() throws -> Pipeline {
    let pipeline = try Pipeline(
        catalog: ShopEvents.catalog,
        trackers: [
            .webhook("https://partner.example/events", name: "partner"),
            .sluice("https://events.example", writeKeyFile: "/run/secrets/centre-key", name: "centre"),
        ],
        journal: "data/journal"
    )
    return pipeline
}

func useSocket() throws -> Pipeline {
    let pipeline = try Pipeline(
        catalog: ShopEvents.catalog,
        trackers: [.socket("tls://logs.example:6514", name: "logs")],
        journal: "data/journal"
    )
    return pipeline
}

func migrate(_ plan: TrackingPlan) async throws {
    let migrator = PostgresMigrator(PostgresConfiguration(connection: "postgres:///shop"))
    let report = try await migrator.migrate(plan, applying: Migration.builtIn)
    print("made \(report.createdTables)")
}

actor Session {
    private let thread: BlockingThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init() throws {
        thread = try BlockingThread()
    }
}
