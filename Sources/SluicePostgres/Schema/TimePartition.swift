package import EventModel
import EventSchema
import Hashing

/// How `sluice migrate` divides a new table by the time of its events.
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

    /// The partitions of a table that is made now: from the earliest time that an event may have to three months ahead.
    package static func ofNewTable(by partitioning: TablePartitioning, now: Timestamp = .now()) -> [TimePartition] {
        let (day, daysBack, daysAhead) = (Int64(86_400_000_000), Int64(400), Int64(92))
        let start = Timestamp(microseconds: now.microseconds - daysBack * day)
        return covering(start...Timestamp(microseconds: now.microseconds + daysAhead * day), by: partitioning)
    }

    /// The month, or otherwise the day, that contains a day.
    package init(of partitioning: TablePartitioning, containing day: CalendarDate) {
        isMonth = partitioning == .month
        first = isMonth ? day.firstOfMonth : day
        end = isMonth ? day.firstOfNextMonth : CalendarDate(daysSince1970: day.daysSince1970 + 1)
    }

    /// The name of the partition of a table: `bought_2026_11`, or `bought_2026_11_05`.
    ///
    /// If it would be longer than PostgreSQL's limit, the table's name is cut, and eight digits of its digest replace the end, so that
    /// two tables have no partition of the same name.
    package func name(of table: String) -> String {
        let date = "\(first)".replacing("-", with: "_")
        let suffix = "_" + (isMonth ? String(date.dropLast(3)) : date)
        if table.utf8.count + suffix.utf8.count <= SQLName.maximumBytes { return table + suffix }
        let digest = SHA256Digest(of: Array(table.utf8)).hexadecimal.prefix(8)
        var start = table
        while start.utf8.count + 1 + digest.utf8.count + suffix.utf8.count > SQLName.maximumBytes { start.removeLast() }
        return "\(start)_\(digest)\(suffix)"
    }

    /// The bounds, as a statement states them.
    package var bounds: String { "FROM ('\(first)T00:00:00Z') TO ('\(end)T00:00:00Z')" }

    /// The schema of the partitions of the tables in a schema, so that tools that list tables show the parents only.
    package static func schema(besides schema: String) -> String { schema + "_partitions" }
}

extension CalendarDate {
    /// The day of a time in UTC.
    fileprivate init(_ time: Timestamp) {
        let days = (Double(time.microseconds) / 86_400_000_000).rounded(.down)
        self.init(daysSince1970: Int32(days))
    }
}
