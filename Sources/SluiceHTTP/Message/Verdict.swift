import EventPipeline
import EventValidation

/// What is said of the events of a body once those that follow the plan are taken.
struct Verdict: Sendable {
    /// The body of the answer.
    let answer: [UInt8]
    /// The rejected events of which more is known than their number.
    let rejections: [Rejection]
    /// How many events were rejected.
    let rejectedCount: Int
    private let keptBytes: Int

    init(of body: CheckedBody) {
        answer = AnswerEncoder.verdicts(of: body)
        rejections = body.rejections
        rejectedCount = body.rejected.count
        keptBytes = body.keptBytes
    }

    /// About how many bytes of memory it takes.
    var byteCount: Int { answer.count + 2 * keptBytes }

    /// Whether its answer is counted until it has left.
    var isLong: Bool { answer.count > MemoryBudget.freeAnswerBytes - AnswerEncoder.maximumHeaderBytes }

    /// Keeps what was rejected in the quarantine.
    func keepRejections(in pipeline: Pipeline) {
        guard rejectedCount > 0 else { return }
        pipeline.quarantine(rejections, besides: rejectedCount - rejections.count, source: "http")
    }
}
