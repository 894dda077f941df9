import EventPipeline
import EventValidation

/// The response for the events of a body, and the rejected events, until the valid ones are accepted.
struct Verdict: Sendable {
    /// The body of the response.
    let answer: [UInt8]
    /// The rejected events with their verdicts, as many as are stored.
    let rejections: [Rejection]
    /// The number of rejected events.
    let rejectedCount: Int
    private let keptBytes: Int

    /// - Parameter keepsRejections: Whether rejected events of this size are stored; otherwise they are only counted.
    init(of body: CheckedBody, answer: [UInt8], keepsRejections: (_ bytes: Int) -> Bool) {
        self.answer = answer
        rejectedCount = body.rejected.count
        if rejectedCount == 0 || keepsRejections(body.keptBytes) {
            rejections = body.rejections
            keptBytes = body.keptBytes
        } else {
            rejections = []
            keptBytes = 0
        }
    }

    /// Its approximate size in memory.
    var byteCount: Int { answer.count + 2 * keptBytes }

    /// Whether its response counts against the memory budget until it is sent.
    var isLong: Bool { answer.count > MemoryBudget.freeAnswerBytes - AnswerEncoder.maximumHeaderBytes }

    /// Stores the rejected events in the quarantine.
    func keepRejections(in pipeline: Pipeline) {
        guard rejectedCount > 0 else { return }
        pipeline.quarantine(rejections, besides: rejectedCount - rejections.count, source: "http")
    }
}
