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
        /// The tracker's name.
        let tracker: String
        let method: HTTPMethod
        let form: RequestBody.Form
        let signingKeyFile: String?
        /// The maximum number of events in a request.
        let maximumEvents: Int
        /// How much of an answer's body is needed, in bytes; `nil` if the body says which events the receiver has, and not the status.
        let sufficientAnswerBytes: Int?
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
        /// Why it wants none.
        var pauseReason: TrackerError?
        /// The body of an earlier request: its memory is used again, because new memory costs as much as writing the body.
        ///
        /// With several requests in progress there is still one, so that a tracker keeps no more than the largest body.
        var spareBody: ByteBuffer?
    }

    /// After this time, no further request of a delivery is sent, and the rest of it is retried.
    static let deliveryLimit = Duration.seconds(60)

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
    func send(_ method: HTTPMethod, to url: String) async throws(TrackerError) -> ReceiverAnswer {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers = try await fields().headers
        return try await client.send(request, until: 0)
    }

    /// Delivers events; those of different users in requests that are in progress at the same time, if the settings allow it.
    func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let fields: RequestFields
        do throws(TrackerError) {
            try await waitForPause()
            fields = try await self.fields()
            try await client.renew()
        } catch {
            return .retry(error)
        }
        let limit = state.withLock { $0.limitInBytes }
        // A limit that the whole delivery is within needs no sizes.
        let sizes = limit < delivery.byteCount ? Self.sizes(of: delivery) : nil
        let end = clock.now() + Self.deliveryLimit
        let sequences = await withTaskGroup(of: RequestSequence.self) { group in
            for lane in Lanes.positions(of: delivery, over: receiver.concurrency) {
                let sequence = RequestSequence(
                    lane,
                    sizes: sizes ?? Self.sizes(of: delivery),
                    maximumEvents: dialect.maximumEvents,
                    limitInBytes: sizes == nil ? .max : limit
                )
                group.addTask { await self.send(sequence, of: delivery, until: end, fields) }
            }
            return await group.reduce(into: [RequestSequence]()) { $0.append($1) }
        }
        state.withLock { $0.limitInBytes = RequestSequence.limit(after: sequences, from: $0.limitInBytes) }
        return outcome(of: sequences)
    }

    private static func sizes(of delivery: Delivery) -> [Int] {
        delivery.slices.flatMap { slice in
            (0..<slice.count).map { slice.batch.line(at: slice.batchIndex(at: $0)).count + 1 }
        }
    }

    // MARK: Requests

    private func send(
        _ sequence: RequestSequence,
        of delivery: Delivery,
        until end: Duration,
        _ fields: RequestFields
    ) async -> RequestSequence {
        var sequence = sequence
        while let part = sequence.next() {
            let verdict =
                if let reason = reasonToWait(end) {
                    AnswerVerdict.retry(reason, after: nil)
                } else {
                    await verdict(on: part, of: delivery, fields)
                }
            sequence.note(verdict, on: part)
        }
        return sequence
    }

    /// Why no further request of a delivery is sent now; `nil` if it is.
    private func reasonToWait(_ end: Duration) -> TrackerError? {
        let now = clock.now()
        if now >= end { return WebhookErrors.slow }
        return state.withLock { $0.pauseEnd > now ? $0.pauseReason : nil }
    }

    private func verdict(
        on part: ArraySlice<Int>,
        of delivery: Delivery,
        _ fields: RequestFields
    ) async -> AnswerVerdict {
        do throws(TrackerError) {
            let events = part.count == delivery.count ? delivery : delivery.selecting(part)
            let body = RequestBody(events, as: dialect.form, reusing: spareBody()).bytes
            let answer = try await client.send(request(events, body, fields), until: dialect.sufficientAnswerBytes)
            keep(body)
            let verdict = dialect.verdict(answer, part.count, now())
            if case .retry(let reason, let pause?) = verdict { self.pause(for: pause, because: reason) }
            return verdict
        } catch {
            return .retry(error, after: nil)
        }
    }

    private func pause(for pause: Duration, because reason: TrackerError) {
        let end = clock.now() + pause
        state.withLock { state in
            guard end > state.pauseEnd else { return }
            state.pauseEnd = end
            state.pauseReason = reason
        }
    }

    private func spareBody() -> ByteBuffer {
        state.withLock { $0.spareBody.take() } ?? ByteBuffer()
    }

    private func keep(_ body: ByteBuffer) {
        state.withLock { $0.spareBody = body }
    }

    private func request(
        _ events: Delivery,
        _ body: ByteBuffer,
        _ fields: RequestFields
    ) throws(TrackerError) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: receiver.url)
        request.method = dialect.method
        request.headers = fields.headers
        let id = WebhookSignature.identity(of: events, from: dialect.tracker, as: dialect.form)
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
        case .none: request.body = .bytes(body)
        case .gzip:
            request.headers.add(name: "content-encoding", value: "gzip")
            request.body = .bytes(ByteBuffer(bytes: try Self.compressed(body)))
        }
        return request
    }

    private static func compressed(_ body: ByteBuffer) throws(TrackerError) -> [UInt8] {
        do throws(GzipError) {
            return try body.withUnsafeReadableBytes { bytes throws(GzipError) in try GzipDeflater.compress(bytes) }
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
        // Of several reasons, the one that an operator has to act on.
        let reason = failures.first { !$0.isRetryable } ?? failures.first { $0.code != .cancelled } ?? failures.first
        guard let reason else { return .refused(refusals) }
        return DeliveryOutcome(refusals: refusals, retry: .init(positions: retried, reason: reason))
    }
}
