import ConsoleTracker
import EventPipeline
import EventSchema
import Events
import KafkaTracker
import PostgresTracker

func useConsole() throws -> Pipeline {
    let pipeline = try Pipeline(catalog: .events, trackers: [.console(.json)])
    return pipeline
}

func useKafka() throws -> Pipeline {
    let pipeline = try Pipeline(
        catalog: .events,
        trackers: [.kafka("localhost:9092", topic: "shop.{event}")],
        journal: .directory("data/journal")
    )
    return pipeline
}

func migrate(_ plan: TrackingPlan) async throws {
    let migrator = PostgresMigrator(PostgresConfiguration(connection: "postgres://localhost/shop"))
    let report = try await migrator.migrate(plan, applying: Migration.builtIn)
    print("made \(report.createdTables)")
}
