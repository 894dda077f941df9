import ServerTestSupport
import SluiceSocket
import SluiceTesting
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("rsyslog as a receiver of lines", .timeLimit(.minutes(5)))
struct SocketRsyslogTests {
    /// Waits until rsyslog, which reads what its kernel has acknowledged, has written so many lines.
    private func wait(for count: Int, in server: PrivateRsyslog) async throws {
        while server.lines.count < count {
            try await waitBriefly()
        }
    }

    @Test("takes every line as it is")
    func lines() async throws {
        let server = try await PrivateRsyslog()
        let tracker = SocketTracker.testing(server.url) { configuration in
            configuration.format = .logstash
            configuration.fields = [#"text=%d "Zoë" \ 日本 🙂 \#t<13>"#]
        }
        let delivery = SocketEvents.delivery(0..<20_000)
        #expect(await tracker.deliver(delivery).retry == nil)
        try await wait(for: 20_000, in: server)
        let lines = server.lines
        #expect(SocketEvents.ids(in: lines) == delivery.map(\.id))
        let beginning = #"{"@timestamp":"2023-11-14T22:13:20.000Z","@version":"1","text":"%d \"Zoë\" \\ 日本 🙂 \t<13>","#
        #expect(lines.allSatisfy { $0.hasPrefix(beginning) })
        await tracker.stop()
    }

    @Test(
        "restarted after it has read everything loses nothing, and gets everything that was not acknowledged",
        .promise("socket-receiver")
    )
    func restarted() async throws {
        let server = try await PrivateRsyslog()
        let tracker = SocketTracker.testing(server.url)
        var delivered = 0
        for round in 0..<3 {
            for _ in 0..<20 {
                let delivery = SocketEvents.delivery(delivered..<delivered + 50)
                while await tracker.deliver(delivery).retry != nil { try await waitBriefly() }
                delivered += 50
            }
            try await wait(for: delivered, in: server)
            if round == 2 { break }
            try await server.stop()
            let delivery = SocketEvents.delivery(delivered..<delivered + 50)
            #expect(await tracker.deliver(delivery).retry?.reason.code == .unavailable)
            try await server.start()
        }
        let ids = SocketEvents.ids(in: server.lines)
        #expect(ids == SocketEvents.delivery(0..<delivered).map(\.id))
        await tracker.stop()
    }

    @Test(
        "restarted in the middle of a stream loses at most the last events that its kernel acknowledged before",
        .promise("socket-receiver")
    )
    func interrupted() async throws {
        let server = try await PrivateRsyslog()
        let tracker = SocketTracker.testing(server.url)
        let isRestarted = Watched(false)
        async let restart: Void = {
            defer { isRestarted.update { $0 = true } }
            try await wait(for: 1000, in: server)
            try await server.stop()
            try await server.start()
        }()
        // Deliveries until one has failed or rsyslog is restarted, and 100 have succeeded since.
        var settled: [Range<Int>] = []
        var firstAfterwards: Int?
        var count: Int?
        while settled.count < count ?? .max {
            let numbers = settled.count * 20..<settled.count * 20 + 20
            while await tracker.deliver(SocketEvents.delivery(numbers)).retry != nil {
                try Task.checkCancellation()
                if isRestarted.value { try await restart }
                if firstAfterwards == nil { firstAfterwards = settled.count }
            }
            settled.append(numbers)
            if count == nil, firstAfterwards != nil || isRestarted.value { count = settled.count + 100 }
        }
        try await restart
        let last = SocketEvents.delivery((settled.last ?? 0..<0)).map(\.id)
        while !Set(SocketEvents.ids(in: server.lines)).isSuperset(of: last) {
            try await waitBriefly()
        }
        let found = Set(SocketEvents.ids(in: server.lines))
        let missing = settled.indices.filter { !found.isSuperset(of: SocketEvents.delivery(settled[$0]).map(\.id)) }
        // They were the last of the connection that ended, without a gap.
        let end = firstAfterwards ?? (missing.last ?? -1) + 1
        #expect(missing == Array((end - missing.count)..<end))
        await tracker.stop()
    }
}
