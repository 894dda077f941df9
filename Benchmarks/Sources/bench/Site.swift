import Foundation

/// Where the programs and the files of a run are.
struct Site: Sendable {
    /// The folder of the ceilings that are written in C and C++.
    let ceilings: String
    /// The folder of this program and those beside it.
    let programs: String
    /// The command that is measured.
    let sluice: String
    /// The tool that makes Swift of plans.
    let codegen: String
    /// The tracking plan of the events.
    let plan: String
    /// The plans that only the benchmark has.
    let plans: String
    /// The script that makes wrk send events.
    let loadScript: String
    /// The real events that all others are made from.
    let retailDay: String
    /// Where files may be written.
    let scratch: String
    /// A PostgreSQL that nobody else uses.
    let postgres: String
    /// How many event loops or worker processes a server gets.
    let cores: Int
    /// How often each side of a row is measured.
    let rounds: Int
}

/// Why nothing could be measured.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
