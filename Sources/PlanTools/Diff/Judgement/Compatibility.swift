/// How a change of the plan affects those who rely on the old plan.
package enum Compatibility: String, Sendable, Hashable, CaseIterable, Comparable {
    /// What was written for the old plan works as before.
    case compatible
    /// It still works, but may see something new: a value, a missing value, a warning.
    case risky
    /// Something fails: code does not compile, events are rejected, or promised data no longer arrives.
    case breaking

    /// Orders by severity.
    package static func < (left: Compatibility, right: Compatibility) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .compatible: 0
        case .risky: 1
        case .breaking: 2
        }
    }
}

/// Those who rely on a plan.
package enum Audience: String, Sendable, Hashable, CaseIterable {
    /// Producers that make events of the generated types.
    case swift
    /// Producers that send JSON, over HTTP or from files.
    case http
    /// Consumers that query the tables of the tracker `postgres`, and those who migrate the tables.
    case sql
    /// Consumers of the canonical lines: from Kafka, or from any other tracker but `postgres` and `console`.
    case kafka

    /// The name of the audience in a report.
    package var title: String {
        switch self {
        case .swift: "Swift callers"
        case .http: "HTTP senders"
        case .sql: "SQL"
        case .kafka: "Kafka readers"
        }
    }
}

/// What a change means for one audience.
package struct Impact: Sendable, Hashable {
    /// The severity.
    package let compatibility: Compatibility
    /// The reason, a sentence without a capital or a full stop.
    package let reason: String

    static func compatible(_ reason: String) -> Impact { Impact(compatibility: .compatible, reason: reason) }
    static func risky(_ reason: String) -> Impact { Impact(compatibility: .risky, reason: reason) }
    static func breaking(_ reason: String) -> Impact { Impact(compatibility: .breaking, reason: reason) }
}

/// What a change means for all audiences.
package struct Impacts: Sendable, Hashable {
    /// For callers of the generated Swift.
    package var swift: Impact
    /// For senders of JSON.
    package var http: Impact
    /// For the tables and their queries.
    package var sql: Impact
    /// For readers of the canonical lines.
    package var kafka: Impact

    /// What it means for one audience.
    package subscript(audience: Audience) -> Impact {
        switch audience {
        case .swift: swift
        case .http: http
        case .sql: sql
        case .kafka: kafka
        }
    }

    /// The most severe impact.
    package var worst: Compatibility {
        max(swift.compatibility, http.compatibility, sql.compatibility, kafka.compatibility)
    }
}
