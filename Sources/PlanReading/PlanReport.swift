public import EventSchema

/// The result of reading a tracking plan: the plan, unless it has errors, and all its problems.
public struct PlanReport: Sendable, Hashable {
    /// The plan; `nil` when there is an error among the diagnostics.
    public let plan: TrackingPlan?
    /// All problems, each once, in the order of the files and of the places in each.
    public let diagnostics: [Diagnostic]

    private let fileOrder: [String]

    /// How many of the problems are errors.
    public var errorCount: Int { diagnostics.count { $0.severity == .error } }
    /// How many of the problems are warnings.
    public var warningCount: Int { diagnostics.count { $0.severity == .warning } }

    /// Sorts the diagnostics; those of files that `fileOrder` does not contain come first.
    init(plan: TrackingPlan, diagnostics: [Diagnostic], fileOrder: [String]) {
        self.fileOrder = fileOrder
        let ranks = Dictionary(fileOrder.enumerated().map { ($1, $0) }) { first, _ in first }
        func order(_ diagnostic: Diagnostic) -> (Int, Int, Int) {
            let location = diagnostic.location
            return (ranks[location.file] ?? -1, location.line, location.column)
        }
        var known: Set<Diagnostic> = []
        let distinct = diagnostics.filter { known.insert($0).inserted }
        // Sorting is stable: problems of one place stay in the order in which they were found.
        self.diagnostics = distinct.sorted { order($0) < order($1) }
        self.plan = distinct.contains { $0.severity == .error } ? nil : plan
    }

    /// Adds the diagnostics of another check; without a plan there is nothing to check.
    package func adding(_ find: (TrackingPlan) -> [Diagnostic]) -> PlanReport {
        guard let plan else { return self }
        return PlanReport(plan: plan, diagnostics: diagnostics + find(plan), fileOrder: fileOrder)
    }
}
