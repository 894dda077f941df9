import SluiceWebhook
import Testing
import TrackerKit

@Suite("Requests for the events of a delivery")
struct RequestSequenceTests {
    private static let failure = TrackerError(code: .unavailable, message: "down", isRetryable: true)

    /// Sends events of ten bytes to a receiver.
    private func send(
        _ count: Int,
        maximumEvents: Int = .max,
        limitInBytes: Int = .max,
        to receiver: (ArraySlice<Int>) -> AnswerVerdict
    ) -> (sequence: RequestSequence, requests: [[Int]]) {
        var sequence = RequestSequence(
            Array(0..<count),
            sizes: [Int](repeating: 10, count: count),
            maximumEvents: maximumEvents,
            limitInBytes: limitInBytes
        )
        var requests: [[Int]] = []
        while let part = sequence.next() {
            requests.append(Array(part))
            sequence.note(receiver(part), on: part)
        }
        return (sequence, requests)
    }

    @Test("whichever events of eight the receiver refuses, only these are, each other one arrives once, and in order")
    func halving() {
        for bad in 0..<256 {
            let isBad = { (position: Int) in bad & 1 << position != 0 }
            var stored: [Int] = []
            let (sequence, _) = send(8) { part in
                guard part.contains(where: isBad) else {
                    stored += part
                    return .delivered
                }
                return .refused(reason: "bad")
            }
            #expect(stored == (0..<8).filter { !isBad($0) })
            #expect(sequence.outcome.refusals.map(\.position).sorted() == (0..<8).filter(isBad))
            #expect(sequence.outcome.refusals.allSatisfy { $0.reason == "bad" })
            #expect(sequence.outcome.retried.isEmpty)
        }
    }

    @Test("whichever request fails, what came before it arrived, and the rest is retried, in order")
    func failing() {
        for failing in 0..<10 {
            var number = 0
            var stored: [Int] = []
            let (sequence, _) = send(20, maximumEvents: 2) { part in
                defer { number += 1 }
                guard number != failing else { return .retry(Self.failure, after: nil) }
                stored += part
                return .delivered
            }
            #expect(stored == Array(0..<failing * 2))
            #expect(sequence.outcome.retried == Array(failing * 2..<20))
            #expect(sequence.failure?.message == "down")
        }
    }

    @Test("a failure while a request is halved retries also what was not sent again")
    func failingWhileHalving() {
        let (sequence, requests) = send(8) { part in
            part.count > 2 ? .refused(reason: "bad") : .retry(Self.failure, after: nil)
        }
        #expect(requests == [Array(0..<8), Array(0..<4), [0, 1]])
        #expect(sequence.outcome.retried == Array(0..<8))
        #expect(sequence.outcome.refusals.isEmpty)
    }

    @Test("a request that is too large is halved until it is not, and later ones are no larger", arguments: 1...100)
    func tooLarge(limit: Int) {
        var stored: [Int] = []
        let (sequence, _) = send(100) { part in
            guard part.count * 10 <= limit * 10 else { return .tooLarge(reason: "large") }
            stored += part
            return .delivered
        }
        #expect(stored == Array(0..<100))
        let found = sequence.limitInBytes
        #expect(limit == 100 ? found == .max : (limit * 5 - 5...limit * 10 + 9).contains(found))
        let (_, requests) = send(100, limitInBytes: sequence.limitInBytes) { _ in .delivered }
        #expect(requests.allSatisfy { $0.count <= limit })
    }

    @Test(
        "the limit of a receiver grows again, however many deliveries follow, and never too far",
        arguments: [1, 100, 1 << 20]
    )
    func growth(found: Int) {
        var limit = found
        for _ in 0..<10_000 {
            let (sequence, _) = send(1, limitInBytes: limit) { _ in .delivered }
            let next = RequestSequence.limit(after: [sequence], from: limit)
            #expect(next >= limit)
            limit = next
        }
        #expect(limit > 1 << 30)
        #expect(RequestSequence.limit(after: [], from: .max) == .max)
    }

    @Test("an event that is too large by itself is refused, and does not make other requests smaller")
    func largeEvent() {
        let (sequence, _) = send(1) { _ in .tooLarge(reason: "large") }
        #expect(sequence.outcome.refusals == [.init(position: 0, reason: "large")])
        #expect(sequence.limitInBytes == .max)
    }

    @Test("a larger event than the limit is sent alone")
    func larger() {
        let (_, requests) = send(3, limitInBytes: 5) { _ in .delivered }
        #expect(requests == [[0], [1], [2]])
    }

    @Test("events that an answer names are refused, the others are not")
    func partly() {
        let (sequence, _) = send(10, maximumEvents: 5) { _ in .partly([.init(position: 3, reason: "no")]) }
        #expect(sequence.outcome.refusals.map(\.position) == [3, 8])
    }
}
