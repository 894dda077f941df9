import EventSchema
import EventValidation
import Logging
import SluicePostgres
import TestSupport
import Testing
import TrackerKit

/// A migrated database with tables for the events `Bought` and `Seen`, and deliveries of a partition whose records have the numbers
/// of their events as offsets.
struct PartitionFixture {
    static let plan = ["Bought", "Seen"].map { event($0, [property("number", .integer)]) }

    let base: PostgresFixture
    var partition: LoadedPartition {
        LoadedPartition(loader: "shop", cluster: "cluster", topic: "it's a topic", number: number)
    }
    /// The partition's number.
    var number: Int32 = 3

    var database: TestDatabase { base.database }
    var tracker: PostgresTracker { base.tracker }

    init(_ setup: String = "", in database: TestDatabase? = nil) async throws {
        base = try await PostgresFixture(Self.plan, in: database)
        if !setup.isEmpty { try await base.database.run(setup) }
    }

    /// Makes another tracker on the same database.
    func makeTracker(
        connection: String? = nil,
        logger: Logger = Logger(label: "test"),
        _ change: (inout PostgresConfiguration) -> Void = { _ in }
    ) -> PostgresTracker {
        var configuration = PostgresConfiguration(connection: connection ?? database.url)
        // No test claims a partition in a transaction that would end by itself.
        configuration.claimTimeout = .milliseconds(200)
        change(&configuration)
        return PostgresTracker(configuration, logger: logger)
    }

    /// Claims the partition, by default as somebody who begins at 0.
    func claim(_ tracker: PostgresTracker? = nil, start: Int64 = 0, owner: String = "a") async throws -> PartitionClaim
    {
        try await (tracker ?? self.tracker).claim(partition, start: start, owner: owner)
    }

    /// Records with these numbers; some do not follow the plan.
    func delivery(
        _ numbers: Range<Int>,
        epoch: Int64 = 1,
        to end: Int? = nil,
        _ name: String = "Bought",
        refusing invalid: Set<Int> = [],
        refusesBrokenEvents: Bool = false,
        acceptsOthers: Bool = false
    ) throws -> PartitionDelivery {
        let valid = numbers.filter { !invalid.contains($0) }
        let lines = valid.map { #"{"id":"\#(id($0))","name":"\#(name)","payload":{"number":\#($0)}}"# }
        return delivery(
            of: lines.isEmpty ? Delivery([]) : try base.delivery(lines),
            offsets: valid.map(Int64.init),
            numbers,
            epoch: epoch,
            to: end,
            refused: invalid.sorted().map { Self.record(Int64($0), #"{"code":"invalid"}"#) },
            refusesBrokenEvents: refusesBrokenEvents,
            acceptsOthers: acceptsOthers
        )
    }

    /// Records with these numbers; those at `offsets` are events.
    func delivery(
        of events: Delivery,
        offsets: [Int64],
        _ numbers: Range<Int>,
        epoch: Int64 = 1,
        to end: Int? = nil,
        refused: [RefusedRecord] = [],
        refusesBrokenEvents: Bool = false,
        acceptsOthers: Bool = false
    ) -> PartitionDelivery {
        PartitionDelivery(
            partition: partition,
            epoch: epoch,
            start: Int64(numbers.lowerBound),
            end: Int64(end ?? numbers.upperBound),
            lastRecord: numbers.last.map(Self.note),
            events: events,
            refused: refused,
            refusing: refusesBrokenEvents ? ["bought", "seen"] : [],
            acceptsOthers: acceptsOthers
        ) { position, reason in
            let code =
                switch reason {
                case .refused: "refused"
                case .broken: "broken"
                }
            return Self.record(offsets[position], #"{"code":"\#(code)"}"#)
        }
    }

    static func record(_ offset: Int64, _ verdict: String) -> RefusedRecord {
        let record = SourceRecord(offset: offset, key: Array("user".utf8), value: Array("{}".utf8), headers: [])
        return RefusedRecord(record: record, verdict: verdict)
    }

    static func note(_ number: Int) -> RecordNote {
        RecordNote(offset: Int64(number), id: id(number), timestamp: 1_700_000_000_000 + Int64(number))
    }

    /// The stored position and epoch.
    func stored() async throws -> [String] {
        try await database.run("SELECT next_offset, epoch FROM analytics._sluice_loader_offsets")
    }

    /// The numbers of the rows in a table.
    func numbers(in table: String = "bought") async throws -> [Int] {
        try await database.run("SELECT number FROM analytics.\(table) ORDER BY number").compactMap { Int($0) }
    }

    /// The offset and the code of each refused record.
    func refused() async throws -> [String] {
        try await database.run(
            "SELECT record_offset, verdict->>'code' FROM analytics._sluice_refused ORDER BY record_offset"
        )
    }
}

extension PartitionOutcome {
    /// The outcome in a word, and how many records were refused, and how many of these because of a broken table.
    var words: String {
        switch self {
        case .committed(let refused, _, stuck: 0): "committed \(refused)"
        case .committed(let refused, _, let stuck): "committed \(refused), \(stuck) broken"
        case .superseded: "superseded"
        case .unknown: "unknown"
        case .tooLarge: "too large"
        case .refusedFull(let limit): "full \(limit)"
        case .broken: "broken"
        case .failed: "failed"
        }
    }

    /// The error, if it has one.
    var error: TrackerError? {
        switch self {
        case .unknown(let error), .tooLarge(let error), .broken(_, _, let error), .failed(let error): error
        case .committed, .superseded, .refusedFull: nil
        }
    }
}
