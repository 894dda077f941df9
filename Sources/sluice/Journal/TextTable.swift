/// Rows of words and numbers in columns, for a terminal.
struct TextTable {
    private var rows: [[String]]
    private let numbers: Set<Int>

    /// Begins with a header; the columns in `numbers` are set flush right.
    init(header: [String], numbers: Set<Int>) {
        rows = [header]
        self.numbers = numbers
    }

    mutating func add(_ row: [String]) {
        rows.append(row)
    }

    /// The lines, without a newline behind the last.
    var text: String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { line($0, widths) }.joined(separator: "\n")
    }

    private func line(_ row: [String], _ widths: [Int]) -> String {
        let cells = row.enumerated().map { column, cell in
            let filling = String(repeating: " ", count: widths[column] - cell.count)
            return numbers.contains(column) ? filling + cell : cell + filling
        }
        let line = cells.joined(separator: "  ")
        return String(line[..<(line.lastIndex { $0 != " " }.map(line.index(after:)) ?? line.startIndex)])
    }
}
