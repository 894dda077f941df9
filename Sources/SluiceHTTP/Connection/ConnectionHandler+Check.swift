import EventValidation
import Gzip
import NIOCore

/// Inflating and checking a body, in one or more turns of the event loop.
extension ConnectionHandler {
    /// Starts with a body that was received completely.
    func finishBody() {
        let work = BodyWork(
            exchange.body ?? ByteBuffer(),
            in: exchange.language,
            isGzip: exchange.isGzip,
            maximumBytes: shared.maximumBodyBytes,
            access: exchange.expectsKeyInBody ? nil : access,
            additions: exchange.additions,
            arrival: { BodyArrival(time: loop.now(), window: shared.clockCorrection) }
        )
        exchange.body = nil
        let beginsAtOnce = loop.mayBegin(work)
        let isSmall = work.looksSmall
        phase = .checking
        self.work = consume work
        if beginsAtOnce {
            loop.measure(exchange.bodyBytes) { turn(fromAllowance: true) }
        } else {
            loop.wait(self, isSmall: isSmall, hadTurn: false)
        }
    }

    /// Gives the body of a request its turn; false if the request no longer waits for one.
    @discardableResult
    func takeTurn(of request: UInt64, fromAllowance: Bool) -> Bool {
        guard context != nil, phase == .checking, request == requestNumber else { return false }
        turn(fromAllowance: fromAllowance)
        // The time limit applies to each turn anew.
        clock.restart()
        continueAfterAnswer()
        return true
    }

    /// Refuses a body that waited too long for a turn.
    func abandonCheck() {
        guard phase == .checking else { return }
        work = nil
        refuse(.overloaded)
        continueAfterAnswer()
    }

    /// With whom this sender shares the time of the event loop.
    var sender: LoopResources.Sender {
        if let grant = exchange.grant { return .key(ObjectIdentifier(grant)) }
        guard exchange.expectsKeyInBody, let address = exchange.sender else { return .anyone }
        return .address(address)
    }

    private var access: BodyWork.Access {
        BodyWork.Access(allowedEvents: exchange.grant?.events, key: exchange.key)
    }

    private func turn(fromAllowance: Bool) {
        guard var work = work.take() else { return }
        do {
            var step = try loop.advance(&work, of: sender, fromAllowance: fromAllowance)
            if case .stated(let key) = step {
                try admit(key: key)
                work.allow(access)
                step = try loop.advance(&work, of: sender, fromAllowance: fromAllowance)
            }
            if case .checked(let body, let ids) = step { return submit(body, statedIDs: ids) }
        } catch {
            return refuse(error)
        }
        guard reserve(exactly: work.byteCount) else { return refuse(.overloaded) }
        let isSmall = work.isSmall
        self.work = consume work
        loop.wait(self, isSmall: isSmall, hadTurn: true)
    }

    /// Refuses a body that could not be inflated or checked.
    private func refuse(_ error: any Error) {
        switch error {
        case let failure as Failure:
            refuse(failure)
        case let gzip as GzipError where gzip.code == .outputTooLarge:
            refuse(.tooLarge(limit: shared.maximumBodyBytes))
        case let gzip as GzipError where !gzip.isRetryable:
            refuse(.invalidGzip)
        case let malformed as MalformedBody:
            exchange.grant?.limiter.charge(max(1, malformed.checkedEvents))
            refuse(.malformed(malformed))
        default:
            refuse(.noMemory)
        }
    }
}
