import PlanReading
import SluiceConsole
import SluicePostgres
import Testing

@Suite("The trackers that plans know by name")
struct WellKnownTrackerTests {
    @Test("the names that plans know are the default names of the trackers")
    func defaultNames() {
        #expect(WellKnownTracker.console == ConsoleConfiguration.defaultName)
        #expect(WellKnownTracker.postgres == PostgresConfiguration.defaultName)
    }
}
