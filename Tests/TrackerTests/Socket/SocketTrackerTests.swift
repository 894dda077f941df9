import EventModel
import EventValidation
import PipelineTestSupport
import ServerTestSupport
import SluiceSocket
import SluiceTesting
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("A receiver of lines", .timeLimit(.minutes(5)))
struct SocketTrackerTests {
    private static let closed = "The receiver closed the connection before it had acknowledged all events."

    @Test("gets the canonical lines, over a connection that is kept")
    func deliveries() async throws {
        let receiver = try LineReceiver()
        let tracker = SocketTracker.testing(receiver.url)
        try await tracker.start(for: SocketEvents.catalog)
        try await tracker.start(for: SocketEvents.catalog)
        for delivery in [SocketEvents.delivery(0..<3), SocketEvents.delivery(3..<4), Delivery([])] {
            let outcome = await tracker.deliver(delivery)
            #expect(outcome.retry == nil && outcome.refusals.isEmpty)
        }
        #expect(receiver.lines == SocketEvents.delivery(0..<4).map(\.json))
        #expect(receiver.connectionCount == 1)
        await tracker.stop()
    }

    @Test("gets deliveries that are larger than a chunk, and lines that are, unchanged", arguments: [20_000, 3])
    func large(count: Int) async throws {
        let receiver = try LineReceiver()
        let tracker = SocketTracker.testing(receiver.url) { $0.fields = ["service=shop"] }
        let text = String(repeating: "x", count: count == 3 ? 900_000 : 10)
        let events = (0..<count).map { ScriptedEvent("Song Played", number: $0, payload: #"{"text":"\#(text)"}"#) }
        let delivery = Delivery([EventSlice(EventBatch.scripted(catalog: SocketEvents.catalog, events: events))])
        #expect(await tracker.deliver(delivery).retry == nil)
        #expect(receiver.lines == delivery.map { #"{"service":"shop","# + $0.json.dropFirst() })
        await tracker.stop()
    }

    @Test("may send what it likes, which is dropped")
    func input() async throws {
        // More than fits into both kernels, if nobody reads it.
        let receiver = try LineReceiver(greeting: Array(repeating: UInt8(ascii: "x"), count: 100_000))
        let tracker = SocketTracker.testing(receiver.url)
        for number in 0..<10 {
            #expect(await tracker.deliver(SocketEvents.delivery(number..<number + 1)).retry == nil)
        }
        #expect(receiver.lines.count == 10)
        #expect(receiver.connectionCount == 1)
        await tracker.stop()
    }

    @Test(
        "that has closed its side is connected to anew, and nothing is settled that it did not get",
        .promise("socket-receiver")
    )
    func halfClosed() async throws {
        let receiver = try LineReceiver()
        let tracker = SocketTracker.testing(receiver.url)
        for number in 0..<20 {
            let delivery = SocketEvents.delivery(number..<number + 1)
            while let reason = await tracker.deliver(delivery).retry?.reason {
                try Task.checkCancellation()
                #expect(reason.message == Self.closed)
            }
            #expect(receiver.lines.count == number + 1)
            receiver.closeConnections()
        }
        #expect(receiver.connectionCount == 20)
        await tracker.stop()
    }

    @Test(
        "that closes the connection in the middle of a delivery gets it again",
        .promise("socket-receiver"),
        arguments: [(1, 100), (50_000, 10_000), (500_000, 10_000)]
    )
    func closing(bytes: Int, count: Int) async throws {
        let receiver = try LineReceiver(receiveBuffer: 4096)
        let tracker = SocketTracker.testing(receiver.url)
        receiver.close(afterBytes: bytes)
        let delivery = SocketEvents.delivery(0..<count)
        let reason = await tracker.deliver(delivery).retry?.reason
        #expect(reason?.code == .unavailable)
        #expect(reason?.message == Self.closed)
        #expect(receiver.lines.count < count)
        receiver.resume()
        #expect(await tracker.deliver(delivery).retry == nil)
        #expect(SocketEvents.ids(in: receiver.lines.suffix(count)) == delivery.map(\.id))
        await tracker.stop()
    }

    // More than the receiver's kernel takes, and more than this side's kernel takes.
    @Test(
        "that stops reading is given up after the time limit, and gets everything again",
        .promise("socket-receiver"),
        arguments: [100, 100_000]
    )
    func stalled(count: Int) async throws {
        let receiver = try LineReceiver(receiveBuffer: 4096)
        let clock = ManualClock()
        let tracker = SocketTracker.testing(receiver.url, clock: clock)
        try await tracker.start(for: SocketEvents.catalog)
        receiver.stall()
        let outcome = Watched<DeliveryOutcome?>(nil)
        async let end: Void = {
            let result = await tracker.deliver(SocketEvents.delivery(0..<count))
            outcome.update { $0 = result }
        }()
        while outcome.value == nil {
            try Task.checkCancellation()
            clock.advance(by: .seconds(1))
            await Task.yield()
        }
        await end
        #expect(
            outcome.value?.retry?.reason.description
                == "The receiver did not acknowledge the events in time. [timeout]"
        )
        await tracker.stop()
        receiver.resume()
        let later = SocketTracker.testing(receiver.url)
        let delivery = SocketEvents.delivery(0..<1000)
        #expect(await later.deliver(delivery).retry == nil)
        #expect(Set(SocketEvents.ids(in: receiver.lines)).isSuperset(of: delivery.map(\.id)))
        await later.stop()
    }

    @Test("that ends with unread events loses them, and the log says so", .promise("socket-receiver"))
    func unread() async throws {
        let receiver = try LineReceiver()
        let log = RecordingLog()
        let tracker = SocketTracker.testing(receiver.url, logger: log.logger)
        try await tracker.start(for: SocketEvents.catalog)
        receiver.stall()
        #expect(await tracker.deliver(SocketEvents.delivery(0..<1)).retry == nil)
        // The event is in the receiver's kernel. Closing a socket with unread bytes resets the connection.
        #expect(receiver.connectionCount == 1)
        receiver.closeConnections()
        while log.all.isEmpty {
            try await waitBriefly()
        }
        #expect(
            log.all == [
                "The connection to the receiver broke; events that its kernel had acknowledged, but that it had not read, may be lost."
                    + " connections=1 tracker=socket"
            ]
        )
        #expect(receiver.lines.isEmpty)
        await tracker.stop()
    }

    @Test("that ends after it has read everything has lost nothing")
    func read() async throws {
        let receiver = try LineReceiver()
        let tracker = SocketTracker.testing(receiver.url)
        #expect(await tracker.deliver(SocketEvents.delivery(0..<1)).retry == nil)
        #expect(receiver.lines.count == 1)
        receiver.closeConnections()
        while await tracker.deliver(SocketEvents.delivery(1..<2)).retry != nil { try await waitBriefly() }
        while Set(receiver.lines).count < 2 { try await waitBriefly() }
        await tracker.stop()
    }

    @Test("sees an orderly end when the tracker stops")
    func stop() async throws {
        let receiver = try LineReceiver()
        let tracker = SocketTracker.testing(receiver.url, clock: ManualClock())
        #expect(await tracker.deliver(SocketEvents.delivery(0..<5)).retry == nil)
        // Returns before its time limit, because the receiver closes its side.
        await tracker.stop()
        #expect(receiver.lines.count == 5)
    }

    @Test("that cannot be reached is unavailable, for one of a few reasons")
    func unreachable() async throws {
        let receiver = try LineReceiver()
        receiver.disappear()
        let reasons = [
            receiver.url: "The receiver cannot be reached: Connection refused.",
            // A label is missing, so nobody is asked for the name.
            "tcp://no..host:\(receiver.port)": "The receiver's name cannot be resolved.",
        ]
        for (url, message) in reasons {
            let tracker = SocketTracker.testing(url)
            for _ in 0..<2 {
                let reason = await tracker.deliver(SocketEvents.delivery(0..<1)).retry?.reason
                #expect(reason?.code == .unavailable)
                #expect(reason?.message == message)
            }
            let error = await #expect(throws: TrackerError.self) { try await tracker.start(for: SocketEvents.catalog) }
            #expect(error?.message == message)
            let outline = PipelineOutline(catalog: SocketEvents.catalog, hasJournal: false)
            #expect(await tracker.problems(in: outline).map(\.message) == [message])
            await tracker.stop()
        }
    }

    @Test("is connected to by a check, which sends nothing")
    func check() async throws {
        let receiver = try LineReceiver()
        let tracker = SocketTracker.testing(receiver.url)
        let outline = PipelineOutline(catalog: SocketEvents.catalog, hasJournal: false)
        #expect(await tracker.problems(in: outline).isEmpty)
        #expect(receiver.connectionCount == 1)
        #expect(receiver.lines.isEmpty)
    }

    @Test("has to have a valid address")
    func settings() {
        for url in ["", "localhost:5000", "udp://localhost:5000", "tcp://localhost"] {
            let error = #expect(throws: TrackerError.self) {
                try SocketTracker.testing(url).checkSettings(for: SocketEvents.catalog)
            }
            #expect(error?.code == .invalidSettings)
        }
        #expect(throws: Never.self) {
            try SocketTracker.testing("tcp://localhost:5000").checkSettings(for: SocketEvents.catalog)
        }
    }
}
