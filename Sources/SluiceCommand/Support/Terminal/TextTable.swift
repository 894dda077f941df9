/// Text in columns, for a terminal.
struct TextTable {
    private var rows: [[TerminalText]]
    private let rightAligned: Set<Int>

    /// Creates a table; the columns in `numbers` are right-aligned.
    init(header: [TerminalText] = [], numbers: Set<Int> = []) {
        rows = header.isEmpty ? [] : [header]
        rightAligned = numbers
    }

    mutating func add(_ row: [TerminalText]) {
        rows.append(row)
    }

    var lines: [TerminalText] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { $0.indices.contains(column) ? $0[column].description.count : 0 }.max() ?? 0
        }
        return rows.map { line($0, widths) }
    }

    private func line(_ row: [TerminalText], _ widths: [Int]) -> TerminalText {
        let cells = row.enumerated().map { column, cell in
            let padding = String(repeating: " ", count: widths[column] - cell.description.count)
            return rightAligned.contains(column) ? padding + cell.description : cell.description + padding
        }
        let line = cells.joined(separator: "  ")
        let end = line.lastIndex { $0 != " " }.map(line.index(after:)) ?? line.startIndex
        return TerminalText(escaping: String(line[..<end]))
    }
}

extension [String] {
    /// The first ten, separated by commas, and an ellipsis if there are more.
    var abbreviatedList: String { prefix(10).joined(separator: ", ") + (count > 10 ? ", …" : "") }
}
