import EventPipeline
import Foundation
import NIOCore
import ServerTestSupport
import SluiceHTTP
import Synchronization
import TestPromises
import Testing

/// The server's behaviour while a tracker's queue is full.
@Suite("HTTP backpressure", .timeLimit(.minutes(5)))
struct BackpressureTests {
    /// A pipeline that accepts one event and delivers nothing until `startDelivering`.
    private static func stalled(maxWait: Duration) -> TestServer.Setup {
        var setup = TestServer.Setup()
        setup.http.maxWait = maxWait
        setup.http.eventLoopCount = 1
        setup.delivers = false
        setup.queueCapacityInEvents = 1
        return setup
    }

    @Test("a queue that stays full is 503 with Retry-After, and no event of the request is accepted or quarantined")
    func queueFull() async throws {
        try await TestServer.run(Self.stalled(maxWait: .milliseconds(50))) { server in
            try await RawClient.with(server.address) { client in
                let first = try await client.exchange(Requests.post())
                #expect(first.status == 200)
                for _ in 0..<3 {
                    let mixed = #"[{"name":"Ping"},{"name":"Pong"}]"#
                    let response = try await client.exchange(Requests.post(mixed))
                    #expect(response.status == 503)
                    #expect(response.field("retry-after") == "1")
                    #expect(response.field("connection") == nil)
                    #expect(response.body.hasPrefix(#"{"error":{"code":"queue-full""#))
                }
                #expect(server.pipeline.statistics.accepted == 1)
                #expect(try await server.quarantined().isEmpty)
                // A request without valid events needs no room: it gets its response, and its rejected events are stored.
                #expect(try await client.exchange(Requests.post(#"{"name":"Pong"}"#)).status == 422)
                #expect(try await server.quarantined().count == 1)
            }
        }
    }

    @Test("the wait is rounded up to whole seconds for Retry-After", arguments: [(1, "1"), (1001, "2"), (2000, "2")])
    func retryAfter(milliseconds: Int, expected: String) async throws {
        try await TestServer.run(Self.stalled(maxWait: .milliseconds(milliseconds))) { server in
            try await RawClient.with(server.address) { client in
                let response = try await client.exchange(Requests.post() + Requests.post())
                #expect(response.status == 200)
                #expect(try await client.response().field("retry-after") == expected)
            }
        }
    }

    @Test("a waiting request is answered as soon as there is room, and only then are its rejected events stored")
    func roomComes() async throws {
        try await TestServer.run(Self.stalled(maxWait: .seconds(60))) { server in
            try await RawClient.with(server.address) { client in
                try await client.send(
                    Requests.post() + Requests.post(#"[{"name":"Ping"},{"name":"Pong"}]"#) + Requests.post()
                )
                #expect(try await client.response().status == 200)
                await server.untilBatchesWait(1)
                #expect(try await server.quarantined().isEmpty)
                server.startDelivering()
                let second = try await client.response()
                #expect(second.status == 200)
                #expect(try Answer(second.body).rejected.map(\.index) == [1])
                #expect(try await server.quarantined().count == 1)
                #expect(try await client.response().body == Requests.accepted)
            }
            #expect(server.pipeline.statistics.accepted == 3)
        }
    }

    @Test("the batch of a waiting sender that disconnects is withdrawn", .promise("withdrawn-events"))
    func leavesWhileWaiting() async throws {
        try await TestServer.run(Self.stalled(maxWait: .seconds(60))) { server in
            try await RawClient.with(server.address) { first in
                #expect(try await first.exchange(Requests.post()).status == 200)
                let leaver = try await RawClient(to: server.address)
                try await leaver.send(Requests.post())
                await server.untilBatchesWait(1)
                try await leaver.reset()
                await server.untilBatchesWait(0)
                #expect(server.pipeline.statistics.accepted == 1)
            }
        }
    }

    @Test("the server does not read further input from a sender whose request waits")
    func readsNothing() async throws {
        try await TestServer.run(Self.stalled(maxWait: .seconds(60))) { server in
            let flood = try await RawClient(to: server.address)
            let other = try await RawClient(to: server.address)
            #expect(try await flood.exchange(Requests.post()).status == 200)
            try await flood.send(Requests.post())
            await server.untilBatchesWait(1)
            let count = 100
            let body = Requests.post(String(repeating: " ", count: 800_000))
            var sent: [EventLoopFuture<Void>] = []
            for _ in 0..<count { sent.append(flood.channel.writeAndFlush(ByteBuffer(string: body))) }
            let all = EventLoopFuture.andAllSucceed(sent, on: flood.channel.eventLoop)
            let isSent = Flag()
            all.whenSuccess { isSent.set() }
            // The server has one event loop, so it had time to read 80 MB of the flood.
            for _ in 0..<2000 {
                #expect(try await other.exchange(Requests.plain("GET", "/livez")).status == 200)
            }
            #expect(!isSent.isSet)
            server.startDelivering()
            #expect(try await flood.response().status == 200)
            for _ in 0..<count { #expect(try await flood.response().status == 400) }
            try await all.get()
            flood.close()
            other.close()
        }
    }

    @Test("a waiting sender that half-closes its connection gets its response, whatever it sent before")
    func halfClosedWhileWaiting() async throws {
        try await TestServer.run(Self.stalled(maxWait: .seconds(60))) { server in
            try await RawClient.with(server.address) { client in
                #expect(try await client.exchange(Requests.post()).status == 200)
                try await client.send(Requests.post())
                await server.untilBatchesWait(1)
                try await client.send(Requests.post() + "broken")
                try await client.finishSending()
                server.startDelivering()
                #expect(try await client.response().status == 200)
                #expect(try await client.response().status == 200)
                #expect(try await client.response().status == 400)
                #expect(try await client.isAtEnd())
            }
        }
    }

    @Test("input that arrives with a half-close is buffered up to a limit, and the rest is not accepted")
    func floodBeforeHalfClose() async throws {
        try await TestServer.run(Self.stalled(maxWait: .seconds(60))) { server in
            try await RawClient.with(server.address) { client in
                #expect(try await client.exchange(Requests.post()).status == 200)
                try await client.send(Requests.post())
                await server.untilBatchesWait(1)
                let flood = String(repeating: Requests.post(), count: 10_000)
                try await client.send(flood)
                try await client.finishSending()
                server.startDelivering()
                let answers = try await client.rest().split(separator: "HTTP/1.1 ")
                #expect(answers.allSatisfy { $0.hasPrefix("200 OK") })
                #expect(answers.count >= 1 && answers.count <= 10_001)
                #expect(server.pipeline.statistics.accepted == answers.count + 1)
            }
        }
    }
}

extension TestServer {
    /// Waits until `count` batches wait in the pipeline for room.
    func untilBatchesWait(_ count: Int) async {
        while pipeline.statistics.waitingBatches != count { await Task.yield() }
    }
}
