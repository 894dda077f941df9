package import EventModel
package import Logging
package import TrackerKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Tests whether a program keeps to the protocol `lines`, whatever its destination is.
///
/// It gets events of the name `Contract Tested`, which it may refuse. Whether it delivers what it says it delivers only its destination
/// shows; for that, there is `TrackerContract`.
package actor ProgramContract {
    /// A promise, and what happened instead, if it was broken.
    package struct Result: Sendable {
        package let promise: String
        package let instead: String?
    }

    /// How long to wait for an answer that must not come.
    private static let patienceInMilliseconds: Int32 = 300

    private static let firstAfterKill = 1_000_000
    private static let countAfterKill = 20_000
    /// The events of the delivery during which the program is killed.
    package static let idsAfterKill = (0..<countAfterKill).map { id(firstAfterKill + $0) }

    private let configuration: ExecConfiguration
    private let logger: Logger
    private let thread: BlockingThread
    private var number = 0

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Makes a test of a program.
    ///
    /// - Throws: `unavailable` if the system refuses a thread.
    package init(_ configuration: ExecConfiguration, logger: Logger) throws(TrackerError) {
        self.configuration = configuration
        self.logger = logger
        thread = try BlockingThread()
    }

    /// Tests each promise with a new process of the program.
    package func results() -> [Result] {
        ignorePipeSignals()
        let checks: [(String, (ChildProcess) throws(TrackerError) -> Void)] = [
            ("an empty delivery is answered", { program throws(TrackerError) in try self.deliver(0, to: program) }),
            (
                "a delivery of one event is answered",
                { program throws(TrackerError) in try self.deliver(1, to: program) }
            ),
            (
                "deliveries of many events are answered, one after the other",
                { program throws(TrackerError) in
                    for count in [1000, 1, 20_001] { try self.deliver(count, to: program) }
                }
            ),
            (
                "an event of 512 KiB is taken",
                { program throws(TrackerError) in try self.deliver(1, textLength: 512 << 10, to: program) }
            ),
            (
                "a delivery that is repeated is answered",
                { program throws(TrackerError) in
                    for first in [0, 0, 100] { try self.deliver(100, from: first, to: program) }
                }
            ),
            ("members of the header that it does not know are ignored", deliverWithUnknownMembers),
            ("a delivery is not answered before all of it was read", deliverInParts),
            ("a new process takes the delivery during which the last one was killed", deliverAfterKill),
            ("after SIGTERM, it ends within the grace period", endInTime),
        ]
        return checks.map { promise, check in
            do throws(TrackerError) {
                let program = try start()
                defer { _ = program.end(within: .zero) }
                try check(program)
                return Result(promise: promise, instead: nil)
            } catch {
                return Result(promise: promise, instead: error.message)
            }
        }
    }

    private func start() throws(TrackerError) -> ChildProcess {
        try ChildProcess(try ProgramDescription(configuration), tracker: configuration.name, logger: logger)
    }

    // MARK: Deliveries

    private static func id(_ position: Int) -> EventID {
        EventID(high: 0x0190_0000_0000_7000, low: 0x8000_0000_0000_0000 | UInt64(position))
    }

    private func deliver(
        _ count: Int,
        from first: Int = 0,
        textLength: Int = 10,
        unknownMember: String = "",
        to program: ChildProcess
    ) throws(TrackerError) {
        let request = request(count, from: first, textLength: textLength, unknownMember: unknownMember)
        try answer(to: request, of: count, from: program)
    }

    private func request(
        _ count: Int,
        from first: Int = 0,
        textLength: Int = 10,
        unknownMember: String = ""
    ) -> [UInt8] {
        number += 1
        let text = String(repeating: "x", count: textLength)
        let lines = (first..<first + count).map { position in
            #"{"id":"\#(Self.id(position))","name":"Contract Tested","time":"2026-01-01T00:00:00Z","#
                + #""receivedAt":"2026-01-01T00:00:00Z","payload":{"number":\#(position),"text":"\#(text)"}}"# + "\n"
        }
        let body = lines.joined()
        let header =
            #"{"delivery":\#(number),"attempt":1,"events":\#(count),"bytes":\#(body.utf8.count)\#(unknownMember)}"#
        return Array("\(header)\n\(body)".utf8)
    }

    /// Sends a delivery, and reads the answer, which may refuse events but must not ask for a retry.
    private func answer(to request: [UInt8], of count: Int, from program: ChildProcess) throws(TrackerError) {
        let line = try program.answer(to: request, of: count, until: .now + configuration.timeout, Interrupt())
        if let reason = try LinesAnswer(line, to: number, of: count).retryReason { throw reason }
        try program.requireSilence()
    }

    // MARK: Checks

    private func deliverWithUnknownMembers(_ program: ChildProcess) throws(TrackerError) {
        try deliver(2, unknownMember: #","later":{"a":[1,{"b":"}\n"}]}"#.replacing("\n", with: "\\n"), to: program)
        try deliver(1, to: program)
    }

    private func deliverInParts(_ program: ChildProcess) throws(TrackerError) {
        // So that the program has started when it is waited for.
        try deliver(1, to: program)
        let request = request(50)
        let parts = [request[..<(request.count / 2)], request[(request.count / 2)..<(request.count - 1)]]
        for part in parts {
            try program.send(Array(part), until: .now + configuration.timeout, Interrupt())
            if program.hasOutput(within: Self.patienceInMilliseconds) { try program.requireSilence() }
        }
        try answer(to: [UInt8(ascii: "\n")], of: 50, from: program)
    }

    private func deliverAfterKill(_ program: ChildProcess) throws(TrackerError) {
        // More than a pipe holds, so that the program must have read a part of it.
        let (first, count) = (Self.firstAfterKill, Self.countAfterKill)
        let request = request(count, from: first)
        try program.send(Array(request.dropLast(10)), until: .now + configuration.timeout, Interrupt())
        _ = program.end(within: .zero)
        let next = try start()
        defer { _ = next.end(within: .zero) }
        try deliver(count, from: first, to: next)
    }

    private func endInTime(_ program: ChildProcess) throws(TrackerError) {
        try deliver(1, to: program)
        if case .killed(let signal) = program.end(within: configuration.grace), signal == SIGKILL {
            throw ExecErrors.unavailable("It had to be killed after \(configuration.grace).")
        }
    }
}
