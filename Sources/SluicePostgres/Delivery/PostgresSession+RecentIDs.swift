import EventValidation
import Logging
import TrackerKit

extension PostgresSession {
    private nonisolated var recentIDs: RecentIDs { RecentIDs(schema: configuration.schema) }

    /// Exchanges the halves of the recent ids if a delivery uses them and the current half is a week old; looks once an hour.
    ///
    /// The delivery does not depend on it: the next look tries again, and ids are only remembered for longer.
    func exchangeRecentIDs(for rows: DeliveryRows, _ interrupt: Interrupt) {
        guard known.hasRecentIDs, rows.groups.contains(where: \.hasServerTimes) else { return }
        let now = ContinuousClock.now
        if let nextExchangeCheck, now < nextExchangeCheck { return }
        nextExchangeCheck = now + RecentIDs.exchangeCheckInterval
        do throws(PostgresFailure) {
            try withConnection(interrupt, timeout: configuration.deliveryTimeout, isLoading: true) {
                connection,
                limit throws(PostgresFailure) in
                guard try !connection.lastRows(of: recentIDs.isExchangeDue, limit).isEmpty else { return }
                let half = try connection.lastRows(of: recentIDs.beginExchange, limit).first?.first
                guard let half = half.flatMap({ $0 }).flatMap({ Int($0) }) else {
                    try connection.execute("ROLLBACK", limit)
                    return
                }
                try connection.execute(recentIDs.exchange(half: half), limit)
            }
        } catch {
            logger.warning(
                "The tables of recent ids were not exchanged, and keep ids for longer than they need; the next attempt is in an hour.",
                metadata: ["tracker": "\(configuration.name)", "error": "\(TrackerError(error))"]
            )
        }
    }

    /// Whether a table of a catalog's events needs recent ids, and they cannot be remembered, as far as is known.
    func lacksRecentIDs(for catalog: EventCatalog) -> Bool {
        !known.hasRecentIDs
            && tables(of: catalog).contains { RecentIDs.areNeeded(forKey: known.key(of: $0) ?? []) }
    }

    /// What prevents the ids of events whose time is not the sender's from being remembered, if a table of the plan needs that.
    func recentIDProblems(for tables: [EventTable], _ interrupt: Interrupt) throws(PostgresFailure) -> [TrackerError] {
        guard tables.contains(where: { RecentIDs.areNeeded(forKey: known.key(of: $0) ?? []) }) else { return [] }
        let recentIDs = recentIDs
        return try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
            connection,
            limit throws(PostgresFailure) in
            let present = try connection.presentSchema(named: configuration.schema, limit)
            if let missing = recentIDs.missingTable(in: present) { return [missing] }
            let rows = try connection.lastRows(of: recentIDs.tablesWithoutPrivilege, limit)
            let names = rows.compactMap { $0.first ?? nil }
            let role = SQLText.identifier(present.role ?? "")
            return names.map { recentIDs.missingPrivilege(on: $0, role: role) }
        }
    }
}
