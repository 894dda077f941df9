import EventJournal
import TestCases
import TestPromises
import Testing

@Suite("A journal in a simulated file system")
struct JournalSimulationTests {
    @Test(
        "events that were acknowledged after a sync survive every crash, once, in order, with their numbers",
        .promise("power-failure"),
        arguments: SimulationSeeds.upTo(300)
    )
    func synced(seed: UInt64) throws {
        let simulation = try JournalSimulation(seed: seed, durability: .fsync)
        try simulation.run(steps: 80)
    }

    @Test(
        "with timed syncs, events that were acknowledged before a successful sync survive every crash",
        .promise("power-failure"),
        arguments: SimulationSeeds.upTo(300)
    )
    func timed(seed: UInt64) throws {
        let simulation = try JournalSimulation(seed: seed, durability: .interval(.seconds(1)))
        try simulation.run(steps: 80)
    }

    @Test(
        "without syncs a crash loses events, but never reorders them or reuses a number",
        .promise("power-failure"),
        arguments: SimulationSeeds.upTo(300)
    )
    func unsynced(seed: UInt64) throws {
        let simulation = try JournalSimulation(seed: seed, durability: .none)
        try simulation.run(steps: 80)
    }

    @Test("the simulation acknowledges, refuses, preallocates and crashes")
    func coverage() throws {
        var (acknowledged, refusals, crashes, preallocations) = (0, 0, 0, 0)
        for seed in 0..<20 as Range<UInt64> {
            let simulation = try JournalSimulation(seed: seed, durability: .fsync)
            try simulation.run(steps: 80)
            acknowledged += simulation.acknowledged.count
            refusals += simulation.refusals
            crashes += simulation.crashes
            preallocations += simulation.preallocations
        }
        var losses = 0
        for seed in 0..<80 as Range<UInt64> {
            let simulation = try JournalSimulation(seed: seed, durability: .interval(.seconds(1)))
            try simulation.run(steps: 80)
            losses += simulation.losses
        }
        #expect(losses > 0)
        #expect(acknowledged > 1000)
        #expect(refusals > 20)
        #expect(crashes > 40)
        #expect(preallocations > 40)
    }
}
