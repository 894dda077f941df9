import SluiceSocket
import Testing

@Suite("The wait for the acknowledgement of a receiver's kernel")
struct AcknowledgementWaitTests {
    @Test("ends once everything is acknowledged")
    func acknowledged() {
        var wait = AcknowledgementWait(limit: .seconds(60))
        #expect(wait.next(unacknowledged: 5, now: .zero) == .ask(at: .milliseconds(1)))
        #expect(wait.next(unacknowledged: 0, now: .seconds(1000)) == .acknowledged)
    }

    @Test("asks after pauses that double up to a limit")
    func pauses() {
        var wait = AcknowledgementWait(limit: .seconds(60))
        var now = Duration.zero
        var pauses: [Duration] = []
        while pauses.count < 9, case .ask(let time) = wait.next(unacknowledged: 5, now: now) {
            pauses.append(time - now)
            now = time
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 64, 64].map { .milliseconds($0) })
    }

    @Test("fails when nothing more was acknowledged for the limit, however long it lasts before")
    func timeout() {
        var wait = AcknowledgementWait(limit: .seconds(60))
        // A slow receiver: a byte in 59 seconds.
        for byte in 0..<100 {
            let now = Duration.seconds(59) * byte
            #expect(wait.next(unacknowledged: 1000 - byte, now: now) != .timeout)
        }
        let last = Duration.seconds(59) * 99
        #expect(
            wait.next(unacknowledged: 901, now: last + .seconds(59))
                == .ask(at: last + .seconds(59) + .milliseconds(64))
        )
        // It asks again when the limit is over, and not later.
        let nearly = last + .seconds(60) - .milliseconds(1)
        #expect(wait.next(unacknowledged: 901, now: nearly) == .ask(at: last + .seconds(60)))
        #expect(wait.next(unacknowledged: 901, now: last + .seconds(60)) == .timeout)
    }
}
