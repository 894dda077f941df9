import ArgumentParser
import Operations

/// `sluice metrics`: lists every metric.
struct MetricsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract:
            "List every metric of the private port with its type, its labels and its meaning, as a Markdown table.",
        discussion: """
            All histograms are in seconds and have the same buckets. The values of the labels event and tracker come from the plan \
            and the settings, never from senders.
            """
    )

    func run() throws {
        try Terminal.print(lines: MetricCatalog.table.split(separator: "\n").map(String.init))
    }
}
