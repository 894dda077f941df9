import EventJournal
import TestCases
import Testing

@Suite("A journal in a simulated file system")
struct JournalSimulationTests {
    @Test(
        "what was acknowledged after a sync survives every crash, once, in order, under its number",
        arguments: SimulationSeeds.upTo(300)
    )
    func synced(seed: UInt64) throws {
        let simulation = try JournalSimulation(seed: seed, durability: .fsync)
        try simulation.run(steps: 80)
    }

    @Test(
        "with timed syncs, what was acknowledged before one that did not fail survives every crash",
        arguments: SimulationSeeds.upTo(300)
    )
    func timed(seed: UInt64) throws {
        let simulation = try JournalSimulation(seed: seed, durability: .interval(.seconds(1)))
        try simulation.run(steps: 80)
    }

    @Test(
        "without syncs a crash loses events, but mixes up none, and gives no number again",
        arguments: SimulationSeeds.upTo(300)
    )
    func unsynced(seed: UInt64) throws {
        let simulation = try JournalSimulation(seed: seed, durability: .none)
        try simulation.run(steps: 80)
    }

    @Test("the simulation acknowledges, refuses and crashes")
    func coverage() throws {
        var (acknowledged, refusals, crashes) = (0, 0, 0)
        for seed in 0..<20 as Range<UInt64> {
            let simulation = try JournalSimulation(seed: seed, durability: .fsync)
            try simulation.run(steps: 80)
            acknowledged += simulation.acknowledged.count
            refusals += simulation.refusals
            crashes += simulation.crashes
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
    }
}
