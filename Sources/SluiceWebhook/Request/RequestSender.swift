import AsyncHTTPClient
import EventModel
import EventValidation
import Gzip
import NIOCore
import NIOHTTP1
import Synchronization
import TrackerKit

/// Delivers events with requests to one receiver; a webhook and a tracker for another Sluice differ only in what they give it.
final class RequestSender: Sendable {
    /// What differs between receivers.
    struct Dialect: Sendable {
        let method: HTTPMethod
        let form: RequestBody.Form
        let signingKeyFile: String?
        /// Whether a request has only one event.
        let isSingle: Bool
        /// The fields that each request has beside those of the settings.
        let fields: [(name: String, value: String)]
        /// What an answer to a request with so many events says.
        let verdict: @Sendable (_ answer: ReceiverAnswer, _ count: Int, _ now: Timestamp) -> AnswerVerdict
    }

    private struct State {
        /// The receiver's limit on the size of a request, as far as its answers show it.
        var limitInBytes = Int.max
        /// Until when the receiver wants no request.
        var pauseEnd = Duration.zero
    }

    private let receiver: HTTPReceiver
    private let dialect: Dialect
    private let clock: RelativeClock
    private let now: @Sendable () -> Timestamp
    private let client: ReceiverClient
    private let state: Mutex<State>

    init(
        _ receiver: HTTPReceiver,
        _ dialect: Dialect,
        clock: RelativeClock,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.receiver = receiver
        self.dialect = dialect
        self.clock = clock
        self.now = now
        client = ReceiverClient(receiver, clock: clock)
        state = Mutex(State())
    }

    /// Reads the files that the settings name.
    ///
    /// - Throws: `notPrepared` if one is missing or unusable.
    func start() async throws(TrackerError) {
        _ = try await fields()
        try await client.start()
    }

    /// Closes the connections.
    func stop() async {
        await client.stop()
    }

    /// Sends a request without events.
    ///
    /// - Throws: Why there is no answer.
    func ask(_ method: HTTPMethod, _ url: String) async throws(TrackerError) -> ReceiverAnswer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers = try await fields().headers
        return try await client.send(request)
    }

    /// Delivers events; those of different users in requests that are in progress at the same time, if the settings allow it.
    func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let fields: RequestFields
        do throws(TrackerError) {
            try await waitForPause()
            fields = try await self.fields()
        } catch {
            return .retry(error)
        }
        let limit = state.withLock { $0.limitInBytes }
        let sizes = delivery.map { $0.batch.line(at: $0.index).count + 1 }
        let maximumEvents = dialect.isSingle ? 1 : Int.max
        let sequences = await withTaskGroup(of: RequestSequence.self) { group in
            for lane in Lanes.positions(of: delivery, over: receiver.concurrency) {
                let sequence = RequestSequence(
                    lane,
                    sizes: sizes,
                    maximumEvents: maximumEvents,
                    limitInBytes: limit
                )
                group.addTask { await self.send(sequence, of: delivery, fields) }
            }
            return await group.reduce(into: [RequestSequence]()) { $0.append($1) }
        }
        state.withLock { state in
            let found = sequences.map(\.limitInBytes).min() ?? limit
            // It grows again, because the request may have been too large for another reason.
            state.limitInBytes = found < limit || limit == .max ? found : limit + limit / 8
        }
        return outcome(of: sequences)
    }

    // MARK: Requests

    private func send(
        _ sequence: RequestSequence,
        of delivery: Delivery,
        _ fields: RequestFields
    ) async -> RequestSequence {
        var sequence = sequence
        while let part = sequence.next() {
            sequence.note(await verdict(on: part, of: delivery, fields), on: part)
        }
        return sequence
    }

    private func verdict(
        on part: ArraySlice<Int>,
        of delivery: Delivery,
        _ fields: RequestFields
    ) async -> AnswerVerdict {
        do throws(TrackerError) {
            let body = RequestBody(part.count == delivery.count ? delivery : delivery.selecting(part), as: dialect.form)
            let answer = try await client.send(request(body.bytes, fields))
            let verdict = dialect.verdict(answer, part.count, now())
            if case .retry(_, let pause?) = verdict {
                let end = clock.now() + pause
                state.withLock { $0.pauseEnd = max($0.pauseEnd, end) }
            }
            return verdict
        } catch {
            return .retry(error, after: nil)
        }
    }

    private func request(_ body: [UInt8], _ fields: RequestFields) throws(TrackerError) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: receiver.url)
        request.method = dialect.method
        request.headers = fields.headers
        let id = WebhookSignature.identity(of: body)
        let timestamp = now().milliseconds / 1000
        request.headers.add(name: "content-type", value: dialect.form.contentType)
        request.headers.add(name: "webhook-id", value: id)
        request.headers.add(name: "webhook-timestamp", value: "\(timestamp)")
        if !fields.secrets.isEmpty {
            let value = WebhookSignature.value(id: id, timestamp: timestamp, body: body, secrets: fields.secrets)
            request.headers.add(name: "webhook-signature", value: value)
        }
        for (name, value) in dialect.fields { request.headers.replaceOrAdd(name: name, value: value) }
        switch receiver.compression {
        case .none: request.body = .bytes(ByteBuffer(bytes: body))
        case .gzip:
            request.headers.add(name: "content-encoding", value: "gzip")
            request.body = .bytes(ByteBuffer(bytes: try Self.compressed(body)))
        }
        return request
    }

    private static func compressed(_ body: [UInt8]) throws(TrackerError) -> [UInt8] {
        do throws(GzipError) {
            return try GzipDeflater.compress(body)
        } catch {
            throw WebhookErrors.unavailable("There is no memory to compress a request.")
        }
    }

    private func fields() async throws(TrackerError) -> RequestFields {
        try await ReceiverClient.blocking { [receiver, dialect] () throws(TrackerError) in
            try RequestFields(receiver, signingKeyFile: dialect.signingKeyFile)
        }
    }

    private func waitForPause() async throws(TrackerError) {
        let end = state.withLock { $0.pauseEnd }
        guard end > clock.now() else { return }
        do { try await clock.sleepUntil(end) } catch { throw .cancelled }
    }

    // MARK: Outcomes

    private func outcome(of sequences: [RequestSequence]) -> DeliveryOutcome {
        let refusals = sequences.flatMap(\.outcome.refusals).sorted { $0.position < $1.position }
        let retried = sequences.flatMap(\.outcome.retried).sorted()
        let failures = sequences.compactMap(\.failure)
        // An outage is the better explanation, and a cancellation the worst.
        guard let reason = failures.first(where: \.isOutage) ?? failures.first else { return .refused(refusals) }
        return DeliveryOutcome(refusals: refusals, retry: .init(positions: retried, reason: reason))
    }
}
