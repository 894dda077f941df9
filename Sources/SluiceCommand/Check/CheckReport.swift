import EventModel
import EventSchema
import PlanReading

/// The result of `sluice check`, part by part; `--json` prints it as it is.
struct CheckReport: Encodable {
    /// A problem and how to fix it.
    struct Problem: Encodable {
        var code: String
        var sentence: String
    }

    /// The plan, a folder, or a destination.
    struct Part: Encodable {
        var name: String
        /// What was checked, printed if there are no problems.
        var summary: String
        var problems: [Problem]
        /// Probable mistakes that do not keep `serve` from working.
        var warnings: [Problem] = []
    }

    /// Whether there are no problems.
    var isOK: Bool
    var parts: [Part]

    init(parts: [Part]) {
        self.parts = parts
        isOK = parts.allSatisfy(\.problems.isEmpty)
    }

    /// A line for each part, followed by a line for each of its problems and warnings.
    var lines: [String] {
        parts.flatMap { part in
            [part.problems.isEmpty ? "\(part.name): ok (\(part.summary))" : "\(part.name):"]
                + part.problems.map { "  error: \($0.sentence) [\($0.code)]" }
                + part.warnings.map { "  warning: \($0.sentence) [\($0.code)]" }
        }
    }
}

extension CheckReport.Part {
    /// Creates the part for a plan from its errors; `sluice lint` reports its warnings.
    init(plan reading: PlanReport, at folder: String) {
        let errors = reading.diagnostics.filter { $0.severity == .error }
        self.init(
            name: "plan",
            summary: "\((reading.plan?.events.count ?? 0).of("event")) in \(folder)",
            problems: errors.map {
                let place = "\($0.location.file):\($0.location.line):\($0.location.column)"
                return CheckReport.Problem(code: $0.code.rawValue, sentence: "\(place): \($0.sentence)")
            }
        )
    }
}
