import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// The parts of a loader's test: a topic, a migrated database, and processes that load one into the other.
struct LoadScene: Sendable {
    static let plan = Sluice.plan + "/retail.plist"
    static let table = "analytics.item_purchased"

    let folder: TestFolder
    let database: TestDatabase
    let topic: SharedTopic

    init(
        _ topic: SharedTopic,
        in postgres: PrivatePostgres? = nil,
        plan: String = Self.plan,
        environment: [String: String] = [:]
    ) async throws {
        folder = try TestFolder()
        self.topic = topic
        let server: PrivatePostgres = if let postgres { postgres } else { try await .shared() }
        database = try await server.makeDatabase()
        try await migrate(plan: plan, environment: environment)
    }

    func migrate(plan: String = Self.plan, environment: [String: String] = [:]) async throws {
        let arguments = ["migrate", "--events", plan, "--postgres", database.url]
        let run = try await Sluice.run(arguments, in: folder, environment: environment)
        #expect(run.ending == .exit(0))
    }

    /// From now on the table keeps every row that is loaded, whatever its id, and refuses events with this price.
    ///
    /// The id of the event is in the column `loaded_id`; the primary key, which would hide duplicates, is a new one for each row.
    func keepEveryRow(refusing price: Double) async throws {
        try await database.run(
            """
            ALTER TABLE \(Self.table) ADD COLUMN loaded_id uuid, ADD CHECK (unit_price <> \(price));
            CREATE FUNCTION public.keep_every_row() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN NEW.loaded_id := NEW.id; NEW.id := gen_random_uuid(); RETURN NEW; END$$;
            CREATE TRIGGER keep_every_row BEFORE INSERT ON \(Self.table)
                FOR EACH ROW EXECUTE FUNCTION public.keep_every_row()
            """
        )
    }

    /// Starts `sluice load`, by default into PostgreSQL; `properties` are librdkafka's, which replace those of the topic.
    func load(
        group: String = "loader",
        to tracker: String? = "postgres",
        postgresPort: Int? = nil,
        plan: String = Self.plan,
        environment: [String: String] = [:],
        properties: [String: String] = [:],
        _ options: String...
    ) throws -> SluiceProcess {
        let arguments = arguments(
            group: group,
            to: tracker,
            postgresPort: postgresPort,
            plan: plan,
            properties: properties
        )
        return try SluiceProcess(
            ["load"] + arguments + options,
            in: folder,
            environment: ["SLUICE_POSTGRES_TIMEOUTS_DELIVERY_SECONDS": "5"].merging(environment) { $1 }
        )
    }

    /// Runs `sluice load status` to its end.
    func status(to tracker: String? = "postgres", _ options: String...) async throws -> Finished {
        try await Sluice.run(["load", "status"] + arguments(to: tracker) + options, in: folder)
    }

    private func arguments(
        group: String = "loader",
        to tracker: String?,
        postgresPort: Int? = nil,
        plan: String = Self.plan,
        properties: [String: String] = [:]
    ) -> [String] {
        var arguments = [
            "--events", plan, "--from", topic.url, "--group", group, "--format", "json", "--postgres",
            database.url(port: postgresPort),
        ]
        if let tracker { arguments += ["--to", tracker] }
        let all = topic.groupProperties.merging(topic.properties) { $1 }.merging(properties) { $1 }
        for (name, value) in all { arguments += ["--kafka-property", "\(name)=\(value)"] }
        return arguments
    }

    /// Ends a loader as an operator does, and returns its last line.
    @discardableResult
    func stop(_ loader: SluiceProcess) async throws -> String {
        loader.send(SIGTERM)
        let ending = try await loader.waitForEnd()
        #expect(ending == .exit(0), "the loader said:\n\(loader.errors.text)")
        return loader.errors.lines.last ?? ""
    }

    // MARK: Records

    /// The record of a purchase, as the relay writes it.
    static func purchase(
        id: String = UUID().uuidString.lowercased(),
        partition: Int32,
        user: String = "17850",
        price: Double = 2.55,
        quantity: Int = 6,
        description: String = "LANTERN",
        planDigest: String? = nil
    ) -> KafkaRecordDraft {
        let value = """
            {"id":"\(id)","name":"Item Purchased","time":"2010-12-01T08:26:00Z","receivedAt":"2010-12-01T08:26:01Z",\
            "userId":"\(user)","payload":{"invoiceNo":"536365","stockCode":"85123A","description":"\(description)",\
            "quantity":\(quantity),"unitPrice":\(price),"country":"United Kingdom"}}
            """
        var headers = [
            KafkaMessage.Header(name: "ce_specversion", value: "1.0"), .init(name: "ce_id", value: id),
            .init(name: "ce_source", value: "test"), .init(name: "ce_type", value: "Item Purchased"),
            .init(name: "ce_time", value: "2010-12-01T08:26:00Z"),
            .init(name: "content-type", value: "application/json"),
        ]
        if let planDigest { headers.append(.init(name: "ce_sluiceplan", value: planDigest)) }
        return KafkaRecordDraft(partition: partition, key: user, value: value, headers: headers)
    }

    /// Writes purchases, one after the other to each partition, and returns their ids.
    @discardableResult
    func writePurchases(_ count: Int, description: String = "LANTERN") async throws -> [String] {
        let ids = (0..<count).map { _ in UUID().uuidString.lowercased() }
        let records = ids.enumerated().map { index, id in
            Self.purchase(id: id, partition: Int32(index) % topic.partitions, description: description)
        }
        try await topic.writer().write(records)
        return ids
    }

    // MARK: What is in the database

    /// The ids of the purchases, in order; all rows, even if an id occurs twice.
    func stored(_ column: String = "id") async throws -> [String] {
        try await database.run("SELECT \(column) FROM \(Self.table) ORDER BY \(column)")
    }

    /// Each refused record, as its partition and offset.
    func refused() async throws -> [String] {
        try await database.run(
            "SELECT partition || '/' || record_offset FROM analytics._sluice_refused ORDER BY partition, record_offset"
        )
    }

    /// The stored positions of a loader, one line for each partition.
    func positions() async throws -> [String] {
        try await database.run(
            "SELECT partition || '=' || next_offset FROM analytics._sluice_loader_offsets ORDER BY partition"
        )
    }

    /// Waits until a query has this result, or the test's time limit has passed.
    func wait(for query: String, toBe result: [String], loader: SluiceProcess? = nil) async throws {
        while try await database.run(query) != result {
            do { try await waitBriefly() } catch {
                throw OutputLog.Missing(text: "\(query) = \(result)", output: loader?.errors.text ?? "")
            }
        }
    }

    /// Waits until at least as many purchases are stored.
    func waitForStored(_ count: Int, loader: SluiceProcess? = nil) async throws {
        try await wait(for: "SELECT count(*) >= \(count) FROM \(Self.table)", toBe: ["t"], loader: loader)
    }
}
