package import EventModel
import EventSchema
import Hashing

/// How `sluice migrate` partitions a new table by the time of its events.
public enum TablePartitioning: String, Sendable, CaseIterable {
    /// A table without partitions, whose key is the id.
    case none
    /// A partition for each month in UTC.
    case month
    /// A partition for each day in UTC.
    case day
}

/// The partition of a table for the events of one month or day in UTC.
package struct TimePartition: Sendable, Hashable {
    /// The first day.
    package let first: CalendarDate
    /// The day after the last one.
    package let end: CalendarDate
    private let isMonth: Bool

    /// The partitions for all events of a range of times, ascending; none without partitioning.
    package static func covering(_ times: ClosedRange<Timestamp>, by partitioning: TablePartitioning) -> [TimePartition]
    {
        guard partitioning != .none else { return [] }
        let last = CalendarDate(times.upperBound)
        var partitions = [TimePartition(of: partitioning, containing: CalendarDate(times.lowerBound))]
        while let current = partitions.last, current.end.daysSince1970 <= last.daysSince1970 {
            let next = TimePartition(of: partitioning, containing: current.end)
            // The calendar ends with the year 9999.
            guard next.first != current.first else { break }
            partitions.append(next)
        }
        return partitions
    }

    /// The times for which a table should have partitions: from 400 days back to three months ahead.
    package static func window(now: Timestamp) -> ClosedRange<Timestamp> {
        let day: Int64 = 86_400_000_000
        let start = Timestamp(microseconds: now.microseconds - 400 * day)
        return start...Timestamp(microseconds: now.microseconds + 92 * day)
    }

    /// The partitions of a table that is made now.
    package static func ofNewTable(by partitioning: TablePartitioning, now: Timestamp = .now()) -> [TimePartition] {
        periods(of: window(now: now), by: partitioning, now: now)
    }

    /// The months or days of a range of times, ascending.
    ///
    /// With partitions by day, the months before the present one have one each, because a lock is held for each of them until the table
    /// is made, and a query of a long time for each that it reads.
    static func periods(
        of range: ClosedRange<Timestamp>,
        by partitioning: TablePartitioning,
        now: Timestamp
    ) -> [TimePartition] {
        let month = Int64(CalendarDate(now).firstOfMonth.daysSince1970) * 86_400_000_000
        guard partitioning == .day, range.lowerBound.microseconds < month else {
            return covering(range, by: partitioning)
        }
        return covering(range.lowerBound...Timestamp(microseconds: month - 1), by: .month)
            + covering(Timestamp(microseconds: month)...range.upperBound, by: .day)
    }

    /// The month, or otherwise the day, that contains a day.
    package init(of partitioning: TablePartitioning, containing day: CalendarDate) {
        isMonth = partitioning == .month
        first = isMonth ? day.firstOfMonth : day
        end = isMonth ? day.firstOfNextMonth : CalendarDate(daysSince1970: day.daysSince1970 + 1)
    }

    /// The name of the partition of a table: `bought_2026_11`, or `bought_2026_11_05`.
    ///
    /// If a month or day has several partitions, those after the first have a number, `bought_2026_11_p2`.
    package func name(of table: String, number: Int = 1) -> String {
        let date = "\(first)".replacing("-", with: "_")
        return Self.name(
            of: table,
            suffix: "_" + (isMonth ? String(date.dropLast(3)) : date) + (number > 1 ? "_p\(number)" : "")
        )
    }

    /// The name of a partition of a table.
    ///
    /// If it would be longer than PostgreSQL's limit, the table's name is cut, and eight digits of its digest replace the end, so that
    /// two tables have no partition of the same name.
    static func name(of table: String, suffix: String) -> String {
        if table.utf8.count + suffix.utf8.count <= SQLName.maximumBytes { return table + suffix }
        let digest = SHA256Digest(of: Array(table.utf8)).hexadecimal.prefix(8)
        var start = table
        while start.utf8.count + 1 + digest.utf8.count + suffix.utf8.count > SQLName.maximumBytes { start.removeLast() }
        return "\(start)_\(digest)\(suffix)"
    }

    /// The times of the events, in microseconds since 1970; empty at the end of the calendar.
    package var microseconds: Range<Int64> {
        let day = Int64(86_400_000_000)
        return Int64(first.daysSince1970) * day..<max(Int64(first.daysSince1970), Int64(end.daysSince1970)) * day
    }

    /// The bounds, as a statement states them.
    package var bounds: String { "FROM ('\(first)T00:00:00Z') TO ('\(end)T00:00:00Z')" }

    /// The schema of the partitions of the tables in a schema, so that tools that list tables show the parents only.
    package static func schema(besides schema: String) -> String { schema + "_partitions" }
}

extension CalendarDate {
    /// The day of a time in UTC.
    fileprivate init(_ time: Timestamp) {
        let (days, rest) = time.microseconds.quotientAndRemainder(dividingBy: 86_400_000_000)
        self.init(daysSince1970: Int32(rest < 0 ? days - 1 : days))
    }
}
