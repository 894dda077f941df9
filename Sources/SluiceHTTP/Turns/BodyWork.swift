import EventModel
import EventValidation
import Gzip
import NIOCore

/// The state of a body between two turns of inflating and checking it.
struct BodyWork: ~Copyable {
    /// The size up to which a body counts as small.
    private static let smallBytes = 64 << 10

    /// The format in which the events are checked.
    private let format: BodyFormat
    private let excess: BodyExcess
    /// Translates the body first; `nil` if it is in Sluice's own format.
    private let translation: (any BodyTranslation)?
    private var isTranslated: Bool
    /// When the body arrived, and the times that its events may have.
    private let arrival: BodyArrival
    /// What the sender may do; `nil` as long as the key that the body contains is not judged.
    private var access: Access?
    private var isConcealed = false
    /// What is added to the `context` of the events.
    private let additions: ContextAdditions
    private let maximumBytes: Int
    /// The body as it was received, or the rest that is to be inflated.
    private var received: ByteBuffer
    /// The size of the received body in memory.
    private var receivedBytes: Int
    private let isGzip: Bool
    private var isInflated: Bool
    /// The inflated part; `nil` before the first turn, and if the body is not compressed.
    private var gzip: GzipBody?
    /// The progress of the check; `nil` before it begins.
    private var progress: BodyProgress?
    /// What continues the check, even if the plan is replaced meanwhile; `nil` before the second turn.
    private var validator: EventValidator?
    private var progressBytes = 0

    /// What the sender of a body may do.
    struct Access {
        /// The events that it may send; `nil` for all.
        let allowedEvents: EventSet?
        /// Its key, which must not be stored; `nil` if it needs none.
        let key: [UInt8]?
    }

    /// How far a body is after a turn.
    enum Step {
        /// It needs another turn.
        case unfinished
        /// Its key is known, or `nil` if it contains none; `allow` or the end of the request must follow.
        case stated(key: [UInt8]?)
        /// It is checked; the ids are the translation's `statedIDs`.
        case checked(CheckedBody, statedIDs: [String?])
    }

    /// Creates the work for a body; `access` is what the sender may do, or `nil` if its key is in the body.
    init(
        _ body: ByteBuffer,
        in language: BodyLanguage,
        isGzip: Bool,
        maximumBytes: Int,
        access: Access?,
        additions: ContextAdditions,
        arrival: BodyArrival
    ) {
        self.arrival = arrival
        received = body
        receivedBytes = body.readableBytes
        switch language {
        case .sluice(let format):
            self.format = format
            self.isGzip = isGzip
            translation = nil
            excess = .refusesBody
        case .dialect(let dialect):
            format = .lines
            self.isGzip = isGzip || (dialect.recognizesGzip && Self.looksCompressed(body))
            translation = dialect.translation(of: arrival)
            excess = dialect.excess
        }
        isTranslated = translation == nil
        self.access = access
        self.additions = additions
        self.maximumBytes = maximumBytes
        isInflated = !self.isGzip
    }

    /// Whether a body begins with the two bytes of gzip (RFC 1952), with which no JSON begins.
    private static func looksCompressed(_ body: ByteBuffer) -> Bool {
        body.getInteger(at: body.readerIndex, as: UInt16.self) == 0x1F8B
    }

    /// Whether one turn is probably enough.
    var looksSmall: Bool {
        guard isGzip else { return receivedBytes <= Self.smallBytes }
        guard receivedBytes * GzipBody.inputWeight <= Self.smallBytes * 4 else { return false }
        // gzip ends with the length of its last member, which only a malicious sender misstates.
        guard let length: UInt32 = received.getInteger(at: received.writerIndex - 4, endianness: .little) else {
            return true
        }
        return length <= Self.smallBytes
    }

    /// Whether it is small, judged by its current size.
    var isSmall: Bool { byteCount <= 4 * Self.smallBytes }

    /// Its approximate size in memory.
    var byteCount: Int { receivedBytes + (gzip?.byteCount ?? 0) + (translation?.byteCount ?? 0) + progressBytes }

    /// Sets what the sender may do, after its key was judged.
    mutating func allow(_ access: Access) {
        self.access = access
    }

    /// Inflates, translates and checks as much as the budget allows.
    ///
    /// - Throws: `GzipError`; `MalformedBody` if the sender is at fault, `UncheckedBody` if the server is.
    mutating func advance(
        with validator: EventValidator,
        _ tools: TranslationTools,
        within budget: inout CheckBudget
    ) throws -> Step {
        if !isInflated {
            guard try inflate(within: &budget) else { return .unfinished }
            isInflated = true
            release()
        }
        if let translation, !isTranslated {
            guard try withBody({ try translation.advance($0, with: tools, within: &budget.bytes) }) else {
                guard access == nil, let key = translation.key else { return .unfinished }
                return .stated(key: key)
            }
            isTranslated = true
            release()
            gzip = nil
        }
        guard let access else { return .stated(key: translation?.key) }
        if let key = access.key, !isConcealed { translation?.conceal(key) }
        isConcealed = true
        let validator = self.validator ?? validator
        var progress = takeProgress(validator, allowing: access.allowedEvents)
        if try check(&progress, with: validator, within: &budget) {
            return .checked(validator.finish(progress), statedIDs: translation?.statedIDs ?? [])
        }
        progressBytes = progress.byteCount
        self.progress = consume progress
        self.validator = validator
        return .unfinished
    }

    private func check(
        _ progress: inout BodyProgress,
        with validator: EventValidator,
        within budget: inout CheckBudget
    ) throws -> Bool {
        if let translation { return try validator.check(translation.text, from: &progress, within: &budget) }
        return try withBody { try validator.check($0, from: &progress, within: &budget) }
    }

    /// Calls `body` with the bytes of the body after inflating, without a byte order mark.
    private func withBody<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        if let gzip { return try body(gzip.text.withoutByteOrderMark()) }
        return try received.withUnsafeReadableBytes { try body($0.withoutByteOrderMark()) }
    }

    private mutating func inflate(within budget: inout CheckBudget) throws -> Bool {
        let gzip = try gzip ?? GzipBody(maximumBytes: maximumBytes)
        self.gzip = gzip
        return try received.readWithUnsafeReadableBytes { bytes in
            var rest = bytes
            let isAtEnd = try gzip.inflate(&rest, within: &budget.bytes)
            return (bytes.count - rest.count, isAtEnd)
        }
    }

    /// Releases the received body, which is not read any more.
    private mutating func release() {
        received = ByteBuffer()
        receivedBytes = 0
    }

    private mutating func takeProgress(
        _ validator: EventValidator,
        allowing allowedEvents: EventSet?
    ) -> BodyProgress {
        if let progress = progress.take() { return progress }
        return validator.begin(
            bodyOf: translation?.text.count ?? gzip?.text.count ?? received.readableBytes,
            as: format,
            arrival: arrival.time,
            eventTimes: arrival.window,
            nullIsAbsent: translation != nil,
            allowedEvents: allowedEvents,
            excess: excess,
            additions: additions,
            refusals: translation?.refusals ?? [:]
        )
    }
}
