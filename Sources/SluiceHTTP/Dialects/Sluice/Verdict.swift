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

    init(of body: CheckedBody, answer: [UInt8]) {
        self.answer = answer
        rejections = body.rejections
        rejectedCount = body.rejected.count
        keptBytes = body.keptBytes
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
