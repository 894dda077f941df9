import Foundation
import ServerTestSupport

extension RetailMonth {
    /// The month as a pipe that provides its first half at once, and the second half when a test asks for it.
    ///
    /// It has the name of the real file, so that its events get the same ids.
    final class Feed: Sendable {
        /// The number of lines in the first half.
        static let firstLines = 20_000

        let path: String
        private let gate: String
        private let folder: TestFolder
        private let feeder = Process()

        init(in folder: TestFolder) throws {
            self.folder = folder
            path = folder.path("retail-2010-12.ndjson")
            gate = folder.path("gate")
            guard mkfifo(path, 0o600) == 0, mkfifo(gate, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
            feeder.executableURL = URL(fileURLWithPath: "/bin/sh")
            let halves = "gzip -dc '\(RetailMonth.path)' | head -n \(Self.firstLines); cat '\(gate)'"
            let rest = "gzip -dc '\(RetailMonth.path)' | tail -n +\(Self.firstLines + 1)"
            feeder.arguments = ["-c", "{ \(halves); \(rest); } >'\(path)'"]
            feeder.standardInput = FileHandle.nullDevice
            try feeder.run()
            ProcessWatch.add(feeder.processIdentifier)
        }

        deinit {
            // After a failed test, the writer would still wait for its gate or its reader.
            if feeder.isRunning { kill(-feeder.processIdentifier, SIGKILL) }
            ProcessWatch.forget(feeder.processIdentifier)
        }

        /// Provides the second half.
        func goOn() async throws {
            _ = try await Command.run("sh", ["-c", ": >'\(gate)'"])
        }
    }
}

extension RetailMonth.Facts {
    /// Counts the events in PostgreSQL's tables.
    static let sql = """
        select count(*) filter (where p), count(*) filter (where not p),
            coalesce(sum(quantity) filter (where p), 0), coalesce(sum(quantity) filter (where not p), 0),
            count(*) filter (where user_id is null), count(*) filter (where description is null),
            count(*) filter (where unit_price = 0), count(distinct id)
        from (
            select true as p, id, user_id, description, quantity, unit_price from analytics.item_purchased
            union all
            select false, id, user_id, description, quantity, unit_price from analytics.item_returned
        ) as sold
        """

    /// Returns the single row of a query.
    init?(row: String) {
        let numbers = row.split(separator: "|").compactMap { Int($0) }
        guard numbers.count == 8 else { return nil }
        self.init(
            purchased: numbers[0],
            returned: numbers[1],
            quantityPurchased: numbers[2],
            quantityReturned: numbers[3],
            withoutUser: numbers[4],
            withoutDescription: numbers[5],
            free: numbers[6],
            ids: numbers[7]
        )
    }
}
