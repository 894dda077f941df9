import PlanReading
import SluiceConsole
import SluiceKafka
import SluicePostgres
import Testing

@Suite("Well-known trackers")
struct WellKnownTrackerTests {
    @Test("the well-known names in plans are the default names of the trackers")
    func defaultNames() {
        #expect(WellKnownTracker.console == ConsoleConfiguration.defaultName)
        #expect(WellKnownTracker.postgres == PostgresConfiguration.defaultName)
        #expect(WellKnownTracker.kafka == KafkaConfiguration.defaultName)
    }
}
