/// Sends events of the quarantine again, through the pipeline of the running process.
package protocol QuarantineReplaying: Sendable {
    /// Sends the selected events that are valid now, each once, and returns after a few seconds at most.
    ///
    /// If it has not reached the end by then, the next call with the same selection continues.
    ///
    /// - Throws: `QuarantineReplayFailure` if the rest cannot be read or sent now.
    func replay(_ selection: QuarantineReplaySelection) async throws(QuarantineReplayFailure) -> QuarantineReplayReport
}

/// Which events are sent again; `nil` for all.
package struct QuarantineReplaySelection: Sendable, Hashable {
    /// The event's name.
    package let event: String?
    /// A code that the verdict must have.
    package let code: String?

    package init(event: String? = nil, code: String? = nil) {
        self.event = event
        self.code = code
    }
}

/// What was done in one call.
package struct QuarantineReplayReport: Sendable, Hashable, Codable {
    /// How many events the pipeline accepted.
    package var sent = 0
    /// How many are still not valid, and stay in the quarantine.
    package var stillInvalid = 0
    /// How many are of erased people, are not sent, and stay in the quarantine until they are too old.
    package var forgotten = 0
    /// The parts of the quarantine that could not be read, a sentence each.
    package var failures: [String] = []
    /// Whether all selected events were tried, as far as they could be read.
    package var isComplete = false

    package init(
        sent: Int = 0,
        stillInvalid: Int = 0,
        forgotten: Int = 0,
        failures: [String] = [],
        isComplete: Bool = false
    ) {
        self.sent = sent
        self.stillInvalid = stillInvalid
        self.forgotten = forgotten
        self.failures = failures
        self.isComplete = isComplete
    }
}

/// Why events cannot be sent again.
package struct QuarantineReplayFailure: Error, Sendable, Hashable {
    /// The kind of the reason.
    package enum Kind: Sendable {
        /// Nothing can match the selection.
        case invalidSelection
        /// Another replay is under way, of this process or another one.
        case busy
        /// The quarantine cannot be read, or the pipeline accepts no events.
        case unavailable
    }

    package let kind: Kind
    /// A sentence for the operator.
    package let sentence: String
    /// How many events were sent before, in the same call.
    package let sent: Int

    package init(_ kind: Kind, _ sentence: String, sent: Int = 0) {
        self.kind = kind
        self.sentence = sentence
        self.sent = sent
    }
}
