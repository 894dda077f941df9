import Foundation

/// Formats the measurements as a table, each with its details and notes under it.
func table(of measurements: [Measurement]) -> String {
    let head = ["", "row", "ours", "compared with", "", "", "ratio", "target"]
    let rows = measurements.map(lines)
    let widths = head.indices.map { column in ([head] + rows.joined()).map { $0[column].count }.max() ?? 0 }
    func line(_ cells: [String]) -> String {
        let padded = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
        return padded.joined(separator: "  ").replacing(#/ +$/#, with: "")
    }
    var text = ["", line(head)]
    for (cells, measurement) in zip(rows, measurements) {
        text += cells.map(line)
        text += ([measurement.what] + measurement.details.map(sentence) + measurement.notes).map { "     \($0)" }
    }
    return (text + ["", legend]).joined(separator: "\n")
}

private let legend = """
    ceiling   another program that does only what Sluice builds on, measured in the same rounds
    sluice    Sluice itself, which does the same in another way, measured in the same rounds
    constant  a figure that was set beforehand and is not measured
    """

/// Formats a line of the table for each comparison.
private func lines(of measurement: Measurement) -> [[String]] {
    measurement.comparisons.enumerated().map { index, comparison in
        [
            comparison.passed ? "✓" : "✗",
            index == 0 ? measurement.row : "",
            index == 0 ? "\(figure(measurement.ours)) \(measurement.unit)" : "",
            comparison.kind.rawValue,
            comparison.name,
            figure(comparison.figure),
            String(format: "%.2f", comparison.ratio),
            (measurement.goal == .atLeast ? "≥ " : "≤ ") + String(format: "%.2f", comparison.target),
        ]
    }
}

private func sentence(of detail: Measurement.Detail) -> String {
    "\(detail.what): \(figure(detail.value)) \(detail.unit)"
}

/// Formats an integer with thousands separators, and a small number with one decimal.
private func figure(_ value: Double) -> String {
    guard value >= 100 else { return String(format: "%.1f", value) }
    var digits = String(Int(value.rounded()))
    var groups: [String] = []
    while digits.count > 3 {
        groups.insert(String(digits.suffix(3)), at: 0)
        digits.removeLast(3)
    }
    return ([digits] + groups).joined(separator: ",")
}
