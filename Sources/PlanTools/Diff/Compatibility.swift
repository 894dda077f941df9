/// How a change of the plan goes with somebody who relies on the plan as it was.
package enum Compatibility: String, Sendable, Hashable, CaseIterable, Comparable {
    /// What was written for the old plan goes on as before.
    case compatible
    /// It goes on, but may meet what it never met: a value, an absence, a warning.
    case risky
    /// Something fails: code does not compile, events are rejected, or promised data no longer comes.
    case breaking

    /// Orders by how bad it is.
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
    /// Consumers that query the tables of the tracker `postgres`, and whoever migrates them.
    case sql
    /// Consumers of the canonical lines: from Kafka, or from any other tracker but `postgres` and `console`.
    case kafka

    /// What they are called in a report.
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
    /// How bad it is.
    package let compatibility: Compatibility
    /// Why; a sentence without a capital or a full stop.
    package let reason: String

    static func compatible(_ reason: String) -> Impact { Impact(compatibility: .compatible, reason: reason) }
    static func risky(_ reason: String) -> Impact { Impact(compatibility: .risky, reason: reason) }
    static func breaking(_ reason: String) -> Impact { Impact(compatibility: .breaking, reason: reason) }
}

/// What a change means for everybody.
package struct Impacts: Sendable, Hashable {
    /// For callers of the generated Swift.
    package var swift: Impact
    /// For senders of JSON.
    package var http: Impact
    /// For the tables and their queries.
    package var sql: Impact
    /// For readers of the canonical lines.
    package var kafka: Impact

    /// What it means for one of them.
    package subscript(audience: Audience) -> Impact {
        switch audience {
        case .swift: swift
        case .http: http
        case .sql: sql
        case .kafka: kafka
        }
    }

    /// The worst of all.
    package var worst: Compatibility {
        max(swift.compatibility, http.compatibility, sql.compatibility, kafka.compatibility)
    }
}
