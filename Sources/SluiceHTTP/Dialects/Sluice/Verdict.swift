import EventModel
import EventPipeline
import EventValidation

/// The response for the events of a body, and the rejected events, until the valid ones are accepted.
struct Verdict: Sendable {
    /// The body of the response.
    let answer: [UInt8]
    /// The rejected events with their verdicts, as many as are stored.
    let rejections: [Rejection]
    /// All rejected events, counted.
    private let rejected: RejectionTally
    private let keptBytes: Int

    /// Limits what the quarantine keeps; `nil` for a sender without a key.
    private let limiter: KeyLimiter?
    private let now: @Sendable () -> Timestamp

    init(of body: CheckedBody, answer: [UInt8], limiter: KeyLimiter?, now: @escaping @Sendable () -> Timestamp) {
        self.answer = answer
        self.limiter = limiter
        self.now = now
        rejections = body.rejections
        rejected = body.rejected
        keptBytes = body.keptBytes
    }

    /// Its approximate size in memory.
    var byteCount: Int { answer.count + 2 * keptBytes }

    /// Whether its response counts against the memory budget until it is sent.
    var isLong: Bool { answer.count > MemoryBudget.freeAnswerBytes - AnswerEncoder.maximumHeaderBytes }

    /// Stores the rejected events in the quarantine, as far as the key's limit allows; the others are counted as lost.
    func keepRejections(in pipeline: Pipeline) {
        guard rejected.count > 0 else { return }
        let isKept = limiter?.keepsRejected(bytes: keptBytes, now: now()) ?? true
        pipeline.quarantine(
            isKept ? rejections : [],
            of: rejected,
            explained: rejections,
            source: "http",
            sender: limiter?.name ?? "(no key)"
        )
    }
}
