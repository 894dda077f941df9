/// Rows of words and numbers in columns, for a terminal.
struct TextTable {
    private var rows: [[TerminalText]]
    private let numbers: Set<Int>

    /// Begins with a header; the columns in `numbers` are set flush right.
    init(header: [TerminalText], numbers: Set<Int>) {
        rows = [header]
        self.numbers = numbers
    }

    mutating func add(_ row: [TerminalText]) {
        rows.append(row)
    }

    /// The lines.
    var lines: [TerminalText] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { $0.indices.contains(column) ? $0[column].description.count : 0 }.max() ?? 0
        }
        return rows.map { line($0, widths) }
    }

    private func line(_ row: [TerminalText], _ widths: [Int]) -> TerminalText {
        let cells = row.enumerated().map { column, cell in
            let filling = String(repeating: " ", count: widths[column] - cell.description.count)
            return numbers.contains(column) ? filling + cell.description : cell.description + filling
        }
        let line = cells.joined(separator: "  ")
        let end = line.lastIndex { $0 != " " }.map(line.index(after:)) ?? line.startIndex
        return TerminalText(escaping: String(line[..<end]))
    }
}
