import EventModel
import Foundation
import TestCases
import TestSupport
import Testing

/// Several loaders of one group, each with a connection of its own to PostgreSQL, and faults that the test injects.
final class LoaderFleet {
    /// What the test does to a loader, to the brokers or to PostgreSQL.
    enum Fault: String, CaseIterable {
        case kill, stop, freezeBriefly, freezeUntilEvicted, silence, brokersDown, postgresCrash, postgresRestart
    }

    /// A loader ended by itself.
    struct Ended: Error, CustomStringConvertible {
        let description: String
    }

    private struct Member {
        var process: SluiceProcess
        let proxy: SilentProxy
        var resumesAt: Duration?

        /// Whether the group has assigned partitions to it, and not taken them back, according to its log.
        var hasPartitions: Bool {
            let changes = [
                "has assigned partitions", "takes the partitions back", "given this member's partitions to others",
                "leaves its group",
            ]
            let last = process.errors.lines.last { line in changes.contains(where: line.contains) }
            return last?.contains(changes[0]) ?? false
        }
    }

    private let scene: LoadScene
    private let postgres: PrivatePostgres
    private let clock = RelativeClock(ContinuousClock())
    private var random: SeededGenerator
    private var members: [Member] = []
    /// The logs of all loaders that have run.
    private var logs: [OutputLog] = []
    /// How often each fault was injected.
    private(set) var faults: [Fault: Int] = [:]
    /// How many faults hit loaders that had loaded something since the previous fault.
    private(set) var faultsWhileLoading = 0
    /// The injected faults, each with its time.
    private var timeline: [String] = []

    init(_ count: Int, of scene: LoadScene, in postgres: PrivatePostgres, seed: UInt64) throws {
        self.scene = scene
        self.postgres = postgres
        random = SeededGenerator(seed: seed)
        for _ in 0..<count {
            let proxy = try SilentProxy(to: postgres.port)
            let process = try scene.load(postgresPort: proxy.port, "--log-level", "debug")
            logs.append(process.errors)
            members.append(Member(process: process, proxy: proxy))
        }
    }

    /// The injected faults, and the last lines of each loader's log.
    var log: String {
        let excerpts = logs.enumerated().map { index, log in
            let lines = log.lines.filter { !$0.contains("librdkafka reported") }.suffix(60)
            return "Loader \(index):\n" + lines.joined(separator: "\n")
        }
        return (timeline + excerpts).joined(separator: "\n")
    }

    /// Injects faults for a while, each kind at least once in ten, in an order that the seed decides.
    func injectFaults(for time: Duration) async throws {
        let end = clock.now() + time
        // Only a mock cluster can be taken down by the test.
        let kinds = Fault.allCases.filter { $0 != .brokersDown || scene.topic.mock != nil }
        var pendingFaults: [Fault] = []
        while clock.now() < end {
            try await letLoad(until: end)
            // Only a loader that comes back after an eviction tries to commit what is not its own any more.
            if pendingFaults.isEmpty {
                pendingFaults = (kinds + [.freezeUntilEvicted, .freezeUntilEvicted]).shuffled(using: &random)
            }
            let fault = pendingFaults.removeLast()
            faults[fault, default: 0] += 1
            let number = Int.random(in: members.indices, using: &random)
            timeline.append("\(Timestamp.now()) \(fault) \(number) (process \(members[number].process.processID))")
            try await inject(fault, into: number)
        }
        resume { _ in true }
    }

    /// Waits a moment, and then until more records are loaded, so that the next fault hits loaders that load; not much longer than
    /// an eviction and a rebalance take.
    private func letLoad(until end: Duration) async throws {
        let limit = min(end, clock.now() + scene.topic.sessionTimeout * 5)
        let before = try await scene.progress()
        try await pause(upTo: 2000)
        while clock.now() < limit {
            try checkThatAllRun()
            resume { $0 <= clock.now() }
            if try await scene.progress() > before { break }
        }
        if clock.now() < limit { faultsWhileLoading += 1 }
    }

    /// Ends all loaders as an operator does.
    func stop() async throws {
        try checkThatAllRun()
        for member in members { member.process.send(SIGTERM) }
        for member in members { #expect(try await member.process.waitForEnd() == .exit(0)) }
    }

    private func inject(_ fault: Fault, into number: Int) async throws {
        switch fault {
        case .kill, .stop: try await replace(number, by: fault == .kill ? SIGKILL : SIGTERM)
        case .freezeBriefly: freeze(number, for: .milliseconds(Int.random(in: 100...1000, using: &random)))
        case .freezeUntilEvicted:
            freeze(number, for: scene.topic.sessionTimeout + .milliseconds(Int.random(in: 1000...5000, using: &random)))
        case .silence: members[number].proxy.goSilent(afterBytes: Int.random(in: 1...50_000, using: &random))
        case .brokersDown:
            try scene.topic.mock?.goDown()
            try await pause(upTo: 3000)
            try scene.topic.mock?.comeUp()
        case .postgresCrash:
            try await postgres.stopImmediately()
            try await pause(upTo: 2000)
            try await postgres.start()
        case .postgresRestart:
            try await postgres.stopFast()
            try await pause(upTo: 2000)
            try await postgres.start()
        }
    }

    private func pause(upTo milliseconds: Int) async throws {
        try await clock.sleepUntil(clock.now() + .milliseconds(Int.random(in: 0...milliseconds, using: &random)))
    }

    /// Ends a loader, and starts another in its place after a while.
    private func replace(_ number: Int, by signal: Int32) async throws {
        // A frozen process does not see SIGTERM.
        if signal == SIGTERM { resume(number) }
        let process = members[number].process
        process.send(signal)
        let ending = try await process.waitForEnd()
        // SIGTERM, too, kills a process that has not begun to listen to signals.
        let hasBegun = process.errors.lines.contains { $0.contains("The private port listens.") }
        let isClean = signal == SIGTERM && ending == .exit(0)
        #expect(isClean || (ending == .signal(signal) && !(signal == SIGTERM && hasBegun)), "\(ending)")
        try await pause(upTo: 1000)
        members[number].resumesAt = nil
        members[number].process = try scene.load(
            postgresPort: members[number].proxy.port,
            "--log-level",
            "debug"
        )
        logs.append(members[number].process.errors)
    }

    /// Freezes a loader, or the next one that has partitions.
    ///
    /// librdkafka's mock cluster does not survive a member that comes back while it waits for the answer to its request to join.
    private func freeze(_ first: Int, for time: Duration) {
        let order = members.indices.map { (first + $0) % members.count }
        guard let number = order.first(where: { members[$0].hasPartitions }) else { return }
        members[number].process.send(SIGSTOP)
        members[number].resumesAt = clock.now() + time
    }

    private func resume(_ isDue: (Duration) -> Bool) {
        for number in members.indices {
            if let time = members[number].resumesAt, isDue(time) { resume(number) }
        }
    }

    private func resume(_ number: Int) {
        members[number].process.send(SIGCONT)
        members[number].resumesAt = nil
    }

    private func checkThatAllRun() throws {
        guard let member = members.first(where: { $0.process.hasEnded }) else { return }
        let lines = member.process.errors.lines
        let reason = lines.firstIndex { $0.contains("Fatal") || $0.contains("Crash") } ?? max(0, lines.count - 40)
        let said = lines[reason...].prefix(60).joined(separator: "\n")
        throw Ended(description: "A loader ended by itself; it said:\n\(said)")
    }
}
