import Foundation

/// The measurements as a table for people, each with its notes under it.
func table(of measurements: [Measurement]) -> String {
    let head = ["", "row", "ours", "ceiling", "ratio", "target"]
    let rows = measurements.map { measurement in
        [
            measurement.passed ? "✓" : "✗",
            measurement.row,
            figure(measurement.ours) + " " + measurement.unit,
            figure(measurement.ceiling) + " " + measurement.unit,
            String(format: "%.2f", measurement.ratio),
            (measurement.goal == .atLeast ? "≥ " : "≤ ") + String(format: "%.2f", measurement.target),
        ]
    }
    let widths = head.indices.map { column in ([head] + rows).map { $0[column].count }.max() ?? 0 }
    func line(_ cells: [String]) -> String {
        let padded = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
        return padded.joined(separator: "  ")
    }
    var lines = ["", line(head)]
    for (row, measurement) in zip(rows, measurements) {
        lines.append(line(row))
        lines += ([measurement.what] + measurement.notes).map { "     \($0)" }
    }
    return lines.joined(separator: "\n")
}

/// A whole number with its thousands apart.
private func figure(_ value: Double) -> String {
    var digits = String(Int(value.rounded()))
    var groups: [String] = []
    while digits.count > 3 {
        groups.insert(String(digits.suffix(3)), at: 0)
        digits.removeLast(3)
    }
    return ([digits] + groups).joined(separator: ",")
}
