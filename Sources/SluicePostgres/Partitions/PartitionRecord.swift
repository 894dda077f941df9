import TrackerKit

/// The refused records and the position of a partition, as a part of a transaction.
struct PartitionRecord: TransactionRecord {
    let delivery: PartitionDelivery
    let offsets: OffsetTable
    let refusedTable: RefusedTable

    /// Locks the partition's row, so that a claim waits for this transaction.
    var opening: String { offsets.lock(delivery.partition) }

    /// Compares nothing: the position and the epoch are compared with the commit only.
    func check(_ row: [String?]?) {}

    /// Stores the refused records and moves the position, unless a row was left out that is not refused.
    func closing(_ report: inout LoadReport, _ loader: DeliveryLoader) throws(PostgresFailure) -> String? {
        if !report.unsettled.isEmpty {
            report.abandonment = .unsettled
            return nil
        }
        if let stuck = report.stuck.first {
            let acceptsOthers = try acceptsOthers(report, loader)
            guard acceptsOthers, delivery.refusing.isSuperset(of: report.stuck.map(\.table)) else {
                report.abandonment = .stuck(stuck.reason, acceptsOthers: acceptsOthers)
                return nil
            }
        }
        let events = refusedEvents(report, loader.sender.defects)
        let refused = delivery.refused + events.map(\.record)
        guard try keep(refused, loader) else {
            report.abandonment = .refusedFull
            return nil
        }
        report.keptRefusals = refused.count
        report.keptStuck = events.count { $0.isStuck }
        return offsets.advance(delivery)
    }

    /// Whether the stuck events are at fault, and not the server: it accepts others.
    ///
    /// Without any, the schema shows it if each table of stuck events differs from what the plan needs, and another table does not.
    private func acceptsOthers(_ report: LoadReport, _ loader: DeliveryLoader) throws(PostgresFailure) -> Bool {
        if report.hasAccepted || delivery.acceptsOthers || report.stuck.allSatisfy(\.isWithoutPartition) { return true }
        let stuck = Set(report.stuck.map(\.table))
        let tables = loader.rows.catalogTargets.joined().map(\.table)
        let others = tables.filter { !stuck.contains($0.name) }
        let present = try loader.inspect()
        guard SchemaInspection(of: present, for: others).obstacles.isEmpty else { return false }
        func isBroken(_ table: EventTable) -> Bool { SchemaInspection.reason(against: table, in: present) != nil }
        return others.contains { !isBroken($0) } && tables.filter { stuck.contains($0.name) }.allSatisfy(isBroken)
    }

    /// The records of the events that are not loaded, in the order of their positions, and whether they are stuck.
    private func refusedEvents(
        _ report: LoadReport,
        _ defects: [Int: RowDefect]
    ) -> [(record: RefusedRecord, isStuck: Bool)] {
        var reasons: [Int: RefusalReason] = [:]
        for stuck in report.stuck {
            for position in stuck.positions { reasons[position] = .broken(stuck.reason.message) }
        }
        for (position, reason) in report.refused { reasons[position] = .refused(reason) }
        for (position, defect) in defects { reasons[position] = .refused(defect.reason) }
        return reasons.sorted { $0.key < $1.key }.map { position, reason in
            let isStuck = if case .broken = reason { true } else { false }
            return (delivery.refuse(position, reason), isStuck)
        }
    }

    /// Stores refused records; returns false if the partition would have too many.
    private func keep(_ refused: [RefusedRecord], _ loader: DeliveryLoader) throws(PostgresFailure) -> Bool {
        if refused.isEmpty { return true }
        let (connection, limit) = (loader.connection, loader.limit)
        try connection.execute(refusedTable.removeExpired(of: delivery.partition, storing: refused.count), limit)
        var rest = refused[...]
        while !rest.isEmpty {
            let statements = refusedTable.storeAndCount(&rest, of: delivery.partition)
            let count = try connection.lastRows(of: statements, limit).first?.first.flatMap { $0.flatMap { Int($0) } }
            if (count ?? 0) > refusedTable.maximumCount { return false }
        }
        return true
    }
}
