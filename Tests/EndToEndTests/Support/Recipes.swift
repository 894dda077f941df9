import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// Events of the project's plan, and the answers to questions about them that a script in Python computes without SQL.
struct Recipes {
    /// A question, which is also the end of the name of its model.
    enum Question: String, CaseIterable {
        case sessions, actives, retention, funnel, users

        /// The columns of the answer as the script writes them.
        var columns: String {
            switch self {
            case .sessions:
                "person, \(Self.utc("started_at")), \(Self.utc("ended_at")), events, first_event, last_event"
            case .actives: "day, daily, weekly, monthly"
            case .retention: "cohort, weeks_later, cohort_people, people"
            case .funnel: "step, event, people"
            case .users: "anonymous_id, user_id, \(Self.utc("first_seen_at")), \(Self.utc("last_seen_at"))"
            }
        }

        private static func utc(_ column: String) -> String {
            "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"
        }
    }

    let folder: TestFolder
    /// The window, in days of the time zone: events are also before and after it.
    let since: String
    let until: String

    /// Makes the events, in the files `first.ndjson` and `second.ndjson` of a folder.
    ///
    /// Those of the second file arrive later: some are older than those of the first, and some are in both files. There are
    /// events at midnight on both sides, and pauses of exactly the length that ends a session. Some anonymous ids have one
    /// user, and some have several, of which the second is only in the second file, or outside the window.
    init(seed: Int, in folder: TestFolder) async throws {
        self.folder = folder
        let day = Date.ISO8601FormatStyle().year().month().day()
        let today = Date()
        since = today.addingTimeInterval(-34 * 86_400).formatted(day)
        until = today.formatted(day)
        let lines = try await ClientScript.run("recipes", ["events", until, String(seed)], in: folder)
        let parts = lines.split(separator: "---", maxSplits: 1)
        try #require(parts.count == 2 && parts.allSatisfy { $0.count > 100 })
        for (name, part) in zip(["first", "second"], parts) {
            try folder.write(part.joined(separator: "\n") + "\n", to: "\(name).ndjson")
        }
    }

    /// Loads files of events into a database with the tables of the plan.
    func load(_ files: [String], into database: TestDatabase) async throws {
        for file in files {
            let options = [file, "--postgres", database.url, "--to", "postgres"]
            let run = try await Sluice.replay(options, in: folder)
            #expect(run.ending == .exit(0), "\(run.errors)")
            #expect(try run.report().rejected == 0)
        }
    }

    /// The rows that answer a question after these files were loaded, in the order of their texts.
    ///
    /// If `isStitched`, an event without a user counts for the only user of its anonymous id.
    func answer(
        to question: Question,
        after files: [String],
        zone: String = "UTC",
        steps: [String],
        isStitched: Bool = true
    ) async throws -> [String] {
        let persons = isStitched ? "stitched" : "separate"
        let arguments = ["expect", question.rawValue, since, until, zone, steps.joined(separator: ","), persons]
        return try await ClientScript.run("recipes", arguments + files, in: folder).sorted()
    }
}
