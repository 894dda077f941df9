import Foundation

/// The locations of the programs and files of a run, and its settings.
struct Site: Sendable {
    /// The folder of the reference programs that are written in C and C++.
    let ceilings: String
    /// The folder of this program and of the other benchmark programs.
    let programs: String
    /// The command that is measured.
    let sluice: String
    /// The tool that generates Swift from plans.
    let codegen: String
    /// The tracking plan of the events.
    let plan: String
    /// The folder of the plans that only the benchmark uses.
    let plans: String
    /// The script with which wrk sends events.
    let loadScript: String
    /// rsyslog's module for PostgreSQL.
    let ompgsql: String
    /// The program that the tracker `exec` delivers with.
    let execProgram: String
    /// The real events from which all others are made.
    let retailDay: String
    /// A folder for temporary files.
    let scratch: String
    /// A PostgreSQL server that nothing else uses.
    let postgres: String
    /// The number of event loops or worker processes of a server.
    let cores: Int
    /// The number of rounds for each side of a row.
    let rounds: Int
}

/// Why the measurement failed.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
