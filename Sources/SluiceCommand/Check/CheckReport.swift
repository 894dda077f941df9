import EventSchema
import PlanReading

/// What `sluice check` found, part by part.
struct CheckReport: Encodable {
    /// Something that is wrong, with the way out.
    struct Problem: Encodable {
        var code: String
        var sentence: String
    }

    /// The plan, a folder, or a destination.
    struct Part: Encodable {
        var name: String
        /// What was looked at, where nothing is wrong with it.
        var summary: String
        var problems: [Problem]
    }

    /// Whether nothing is wrong.
    var isOK: Bool
    var parts: [Part]

    init(parts: [Part]) {
        self.parts = parts
        isOK = parts.allSatisfy(\.problems.isEmpty)
    }

    /// A line for each part, and one for each problem below it.
    var lines: [String] {
        parts.flatMap { part in
            [part.problems.isEmpty ? "\(part.name): ok (\(part.summary))" : "\(part.name):"]
                + part.problems.map { "  error: \($0.sentence) [\($0.code)]" }
        }
    }
}

extension CheckReport.Part {
    /// What the reader of the plan says; warnings are lint's.
    init(plan reading: PlanReport, at folder: String) {
        let errors = reading.diagnostics.filter { $0.severity == .error }
        self.init(
            name: "plan",
            summary: "\(reading.plan?.events.count ?? 0) events in \(folder)",
            problems: errors.map {
                let place = "\($0.location.file):\($0.location.line):\($0.location.column)"
                return CheckReport.Problem(code: $0.code.rawValue, sentence: "\(place): \($0.sentence)")
            }
        )
    }
}
