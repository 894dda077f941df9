public import Logging

/// Reads the tracking plan of a running process again, when somebody asks for it.
public protocol PlanReloader: Sendable {
    /// Why the last reload was refused, in one line; `nil` if the plan in use is that of the files.
    var problem: String? { get }

    /// Reads the plan, and replaces the one in use if it is valid and different.
    ///
    /// It logs what it did, with `asker`, which says who asked.
    func reload(askedBy asker: Logger.Metadata) async -> PlanReload
}

/// The result of a reload.
public struct PlanReload: Sendable, Codable, Hashable {
    /// What happened to the plan in use.
    public enum Outcome: String, Sendable, Codable, CaseIterable {
        /// It was replaced.
        case replaced
        /// It is the same.
        case unchanged
        /// The new one has problems, so the earlier one stays in use.
        case refused
    }

    /// What happened to the plan in use.
    public let outcome: Outcome
    /// The plan's warnings and the changes or, if the plan was refused, its problems; one a line.
    public let lines: [String]

    /// Describes a reload.
    public init(_ outcome: Outcome, _ lines: [String] = []) {
        self.outcome = outcome
        self.lines = lines
    }
}
