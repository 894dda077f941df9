import EventSchema
import Journal

extension Pipeline {
    /// Keeps rejected events in the quarantine; `source` says where they came from, as `http` or a file's name.
    public func quarantine(_ rejections: [Rejection], source: String) {
        guard !rejections.isEmpty else { return }
        metrics.rejected(rejections.count)
        rejects.keep(rejections, source: source, planVersion: catalog.plan.version)
    }

    /// Keeps events that do not follow the plan any more, and throws where that fails.
    func quarantineForGood(_ rejections: [Rejection], source: String) async throws(JournalError) {
        guard !rejections.isEmpty else { return }
        try await rejects.keepForGood(rejections, source: source, planVersion: catalog.plan.version)
        metrics.rejected(rejections.count)
    }
}
