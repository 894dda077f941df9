import NIOCore
import NIOHTTP1

/// Answering with the JSON Schema of what a key may send.
extension ConnectionHandler {
    /// Answers with the document for the sender's key, at once or when it is rendered.
    func answer(_ plan: PlanDocuments, _ head: RequestHead) throws(Failure) {
        let events = try admitReader(head)
        let waiting = NIOLoopBound(self, eventLoop: submission.eventLoop)
        let request = requestNumber
        let outcome = plan.outcome(for: events) { outcome in
            waiting.eventLoop.execute { waiting.value.resume(with: outcome, for: request) }
        }
        if let outcome {
            answer(outcome)
        } else {
            phase = .rendering
        }
    }

    /// Answers that the document takes too long; it is kept once it is rendered, so a later request gets it.
    func abandonPlan() {
        guard phase == .rendering else { return }
        refuseEarly(.planUnavailable)
        continueAfterAnswer()
    }

    private func resume(with outcome: PlanOutcome, for request: UInt64) {
        guard context != nil, phase == .rendering, request == requestNumber else { return }
        answer(outcome)
        continueAfterAnswer()
    }

    private func answer(_ outcome: PlanOutcome) {
        guard let document = try? outcome.get() else { return refuseEarly(.planTooLarge) }
        var fields: HTTPHeaders = ["etag": document.tag, "cache-control": "private, no-cache"]
        if exchange.fields.isEmpty { fields.add(name: "vary", value: "origin") }
        if document.isKnown(by: exchange.knownTags) {
            return answerEarly(Answer(status: "304 Not Modified", fields: fields, body: nil))
        }
        let bytes = exchange.isHead ? 0 : document.body.count + AnswerEncoder.maximumHeaderBytes
        guard shared.planBudget.reserve(bytes) else { return refuseEarly(.planUnavailable) }
        let answer = Answer(
            status: "200 OK",
            fields: fields,
            contentType: "application/schema+json",
            body: document.body
        )
        answerEarly(answer, reservedBytes: bytes, of: shared.planBudget)
    }

    private func refuseEarly(_ failure: Failure) {
        answerEarly(exchange.language.answer(to: failure))
    }
}
