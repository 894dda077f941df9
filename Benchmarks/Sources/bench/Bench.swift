import ArgumentParser
import Foundation

/// Measures Sluice and its references in the same run.
@main
struct Bench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure Sluice, and what it is compared with.",
        discussion: "Run by `make bench`, from the project's folder. Exits 1 if a row misses its target three times."
    )

    @Argument(help: "Rows to measure: \(allRows.map(\.name).joined(separator: ", ")); all when none is named.")
    var rows: [String] = []

    @Option(help: "The folder of the ceilings' programs.")
    var ceilings: String

    @Option(help: "The URL of a PostgreSQL that nobody else uses.")
    var postgres: String

    @Option(help: "How often each side of a row is measured.")
    var rounds = 5

    @Option(help: "Where files may be written.")
    var scratch = ".run/bench"

    @Option(help: "Where the figures go, as JSON.")
    var json = "Benchmarks/results.json"

    func validate() throws {
        for row in rows where !allRows.contains(where: { $0.name == row }) {
            throw ValidationError("There is no row '\(row)'.")
        }
    }

    func run() throws {
        // The events are from 2010 and 2011.
        setenv("SLUICE_EVENTS_MAXIMUM_AGE_DAYS", "36500", 1)
        let interrupts = terminateChildrenOnInterrupt()
        defer { interrupts.forEach { $0.cancel() } }
        let chosen = allRows.filter { rows.isEmpty || rows.contains($0.name) }
        var measurements: [Measurement] = []
        var failures: [String] = []
        for row in chosen {
            FileHandle.standardError.write(Data("Measuring \(row.name): \(row.what) …\n".utf8))
            do {
                measurements.append(try measure(row))
            } catch {
                // Measure the other rows all the same.
                failures.append("\(row.name): \(error)")
            }
        }
        print(table(of: measurements))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(measurements).write(to: URL(fileURLWithPath: json))
        print("\nAll figures: \(json)")
        for failure in failures { print("FAILED \(failure)") }
        if !failures.isEmpty || measurements.contains(where: { !$0.passed }) { throw ExitCode.failure }
    }

    /// Measures a row, and up to twice again if it misses its target, because another program may have disturbed it.
    private func measure(_ row: some Row) throws -> Measurement {
        var measurement = try row.measure(at: site)
        for attempt in 2...3 where !measurement.passed {
            let ratios = measurement.comparisons.map { String(format: "%.2f", $0.ratio) }.joined(separator: ", ")
            FileHandle.standardError.write(Data("It misses its target with \(ratios); attempt \(attempt) …\n".utf8))
            let notes = measurement.notes.filter { $0.hasPrefix("attempt ") }
            measurement = try row.measure(at: site)
            measurement.notes += notes + ["attempt \(attempt - 1) missed the target: \(ratios)"]
        }
        return measurement
    }

    private var site: Site {
        let programs = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
        return Site(
            ceilings: ceilings,
            programs: programs,
            sluice: ".build/release/sluice",
            codegen: ".build/release/event-codegen",
            plan: "events",
            plans: "Benchmarks/Plans",
            loadScript: "Benchmarks/Load/events.lua",
            ompgsql: URL(fileURLWithPath: scratch).appending(path: "ompgsql.so").path,
            execProgram: "Benchmarks/Programs/append.py",
            retailDay: "Examples/data/retail-2010-12-01.ndjson.gz",
            scratch: FileManager.default.currentDirectoryPath + "/" + scratch,
            postgres: postgres,
            cores: ProcessInfo.processInfo.activeProcessorCount,
            rounds: rounds
        )
    }
}

/// Terminates the children on Ctrl-C, which reaches only this process, because each child has its own process group.
private func terminateChildrenOnInterrupt() -> [any DispatchSourceSignal] {
    [SIGINT, SIGTERM].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler {
            Child.terminateAll()
            Foundation.exit(130)
        }
        source.resume()
        return source
    }
}
