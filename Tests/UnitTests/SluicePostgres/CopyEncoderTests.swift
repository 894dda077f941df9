import EventModel
import EventSchema
import EventValidation
import SluicePostgres
import TestCases
import Testing

/// The encoder against a reader of PostgreSQL's format that shares no code with it.
///
/// `SLUICE_PROPERTY_SEED=<seed>` repeats a run.
@Suite("The encoder of COPY rows")
struct CopyEncoderTests {
    private static let arrival = Timestamp(microseconds: 1_700_000_000_123_456)

    @Test("encodes every value of generated events, in the column of its property", arguments: 0..<4)
    func generated(part: Int) throws {
        let seed = CaseSource.runSeed &+ UInt64(part)
        var source = CaseSource(seed: seed)
        var (rows, types) = (0, Set<ColumnType>())
        for _ in 0..<60 {
            let plan = GeneratedPlan.make(&source)
            let catalog = EventCatalog(plan: plan)
            let texts = (0..<10).map { _ in
                SentText.of(GeneratedEvent.make(of: plan, &source), allowsNewlines: false, &source)
            }
            let checked = try EventValidator(catalog: catalog, now: { Self.arrival })
                .check(bytes: Array(texts.joined(separator: [10])), as: .lines)
            guard let batch = checked.batch else { continue }
            for (line, entry) in zip(Self.lines(of: batch), batch.entries) {
                let definition = catalog.definitions[Int(entry.definitionIndex)]
                let row = try #require(CopyRow(try Self.encode(line, entry, definition)), "seed \(seed)")
                let problem = Self.difference(between: row, and: line, definition)
                #expect(problem == nil, "seed \(seed): \(String(decoding: line, as: UTF8.self))")
                rows += 1
                types.formUnion(definition.properties.map { ColumnType($0.type) })
            }
        }
        #expect(rows > 100)
        #expect(types == Set(ColumnType.allCases))
    }

    @Test("encodes the limits of each type exactly")
    func limits() throws {
        let numbers = [
            "0", "-0", "1", "-1", "9007199254740993", "1e20", "-1.5e-7", "12345678901234567890.12345678901234567890",
        ]
        let values: [(PropertyType, [String])] = [
            (.integer, ["0", "-1", "\(Int64.max)", "\(Int64.min)", "\(Int64.max - 1)"]),
            (.number, ["0", "-0.0", "5e-324", "2.2250738585072011e-308", "1.7976931348623157e308", "0.1", "1e23"]),
            (.decimal, numbers + ["10000", "9999", "0.0001", "0.00001", "\"1.50\""]),
            (.boolean, ["true", "false"]),
            (
                .timestamp,
                [#""0001-01-01T00:00:00Z""#, #""9999-12-31T23:59:59.999999Z""#, #""1999-12-31T23:59:59.5Z""#]
            ),
            (.date, [#""0001-01-01""#, #""9999-12-31""#, #""2000-02-29""#]),
            (.uuid, [#""00000000-0000-0000-0000-000000000000""#, #""ffffffff-ffff-ffff-ffff-ffffffffffff""#]),
            (.string, [#""""#, #""a\"b\\c\nd""#, #""\ud83d\ude00é""#, "\"\(String(repeating: "x", count: 70_000))\""]),
            (.any, ["null", "1e20", #"[{"a":[]},"\u001f",-0.0]"#, #"{"é":{"b":null}}"#]),
        ]
        for (type, texts) in values {
            let definition = Self.definition([
                PropertyDefinition(
                    name: "p",
                    type: type,
                    isRequired: false,
                    isNullable: true,
                    location: .line(1)
                )
            ])
            for text in texts {
                let (line, entry) = try #require(Self.accepted(#"{"p":\#(text)}"#, definition), "\(type): \(text)")
                let row = try #require(CopyRow(try Self.encode(line, entry, definition)), "\(type): \(text)")
                #expect(Self.difference(between: row, and: line, definition) == nil, "\(type): \(text)")
            }
        }
    }

    @Test("a line that ends too early is refused, wherever it ends, and leaves the rows before it")
    func truncated() throws {
        let (line, entry, definition) = try Self.sample()
        var encoder = CopyEncoder()
        var buffer = CopyBuffer(capacity: 0)
        let layout = RowLayout(definition)
        try Self.append(line, entry, layout, &encoder, &buffer)
        let before = Array(buffer.bytes)
        for end in 0..<line.count {
            #expect(throws: RowDefect.self, "\(end)") {
                try Self.append(Array(line[..<end]), entry, layout, &encoder, &buffer)
            }
            let after = Array(buffer.bytes)
            #expect(after == before, "\(end)")
        }
    }

    @Test("a line with any other byte in any place is refused or encoded as a row of the same form")
    func mutated() throws {
        let (line, entry, definition) = try Self.sample()
        let layout = RowLayout(definition)
        var encoder = CopyEncoder()
        var buffer = CopyBuffer(capacity: 0)
        var (refused, encoded) = (0, 0)
        for place in line.indices {
            for byte in UInt8.min...UInt8.max where byte != line[place] {
                var changed = line
                changed[place] = byte
                buffer.truncate(to: 0)
                do throws(RowDefect) {
                    try Self.append(changed, entry, layout, &encoder, &buffer)
                    encoded += 1
                } catch {
                    refused += 1
                    let count = buffer.count
                    #expect(count == 0)
                    continue
                }
                let row = CopyRow(Array(buffer.bytes))
                #expect(row?.fields.count == EventTable.ownColumns.count + definition.properties.count + 1, "\(place)")
            }
        }
        #expect(refused > 1000 && encoded > 1000)
    }

    // MARK: Helpers

    private static func append(
        _ line: [UInt8],
        _ entry: EventBatch.Entry,
        _ layout: RowLayout,
        _ encoder: inout CopyEncoder,
        _ buffer: inout CopyBuffer
    ) throws(RowDefect) {
        try line.span.withUnsafeBytes { bytes throws(RowDefect) in try encoder.append(bytes, entry, layout, to: &buffer)
        }
    }

    /// The row of a line, encoded into a buffer that has to grow for it.
    private static func encode(
        _ line: [UInt8],
        _ entry: EventBatch.Entry,
        _ definition: EventDefinition
    ) throws -> [UInt8] {
        var encoder = CopyEncoder()
        var buffer = CopyBuffer(capacity: 0)
        try append(line, entry, RowLayout(definition), &encoder, &buffer)
        return Array(buffer.bytes)
    }

    /// The lines of a batch, without their newlines.
    private static func lines(of batch: EventBatch) -> [[UInt8]] {
        batch.lines.split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    private static func definition(_ properties: [PropertyDefinition]) -> EventDefinition {
        EventDefinition(
            key: "Sample",
            trackers: ["postgres"],
            properties: properties,
            allowsAdditionalProperties: true,
            location: .line(1)
        )
    }

    /// The canonical line of an event with this payload; `nil` if the check rejects it.
    private static func accepted(_ payload: String, _ definition: EventDefinition) -> ([UInt8], EventBatch.Entry)? {
        let catalog = EventCatalog(plan: TrackingPlan(events: [definition]))
        let text = #"{"name":"Sample","userId":"u\n","context":{"ip":"::1"},"payload":\#(payload)}"#
        let validator = EventValidator(catalog: catalog, now: { arrival })
        guard let batch = try? validator.check(text).batch else { return nil }
        return (lines(of: batch)[0], batch.entries[0])
    }

    /// An event with a property of every type, and one that is not in the plan.
    private static func sample() throws -> ([UInt8], EventBatch.Entry, EventDefinition) {
        let types: [(String, PropertyType)] = [
            ("a", .string), ("b", .integer), ("c", .number), ("d", .decimal), ("e", .boolean), ("f", .timestamp),
            ("g", .date), ("h", .uuid), ("i", .any),
        ]
        let definition = definition(
            types.map { PropertyDefinition(name: $0, type: $1, isRequired: false, location: .line(1)) }
        )
        let payload = """
            {"a":"x","b":12,"c":0.5,"d":1.25,"e":true,"f":"2026-01-02T03:04:05Z","g":"2026-01-02",\
            "h":"0197a9f0-0000-7000-8000-000000000001","i":[1,"y"],"z":null}
            """
        let (line, entry) = try #require(accepted(payload, definition))
        return (line, entry, definition)
    }

    /// What of a row is not what the line says; `nil` if all of it is.
    private static func difference(
        between row: CopyRow,
        and line: [UInt8],
        _ definition: EventDefinition
    ) -> String? {
        guard case .value(.object(let members)) = ReferenceParser.parse(line) else { return "the line is no object" }
        var event = Dictionary(members.map { (String(codePoints: $0.key), $0.value) }) { first, _ in first }
        guard case .object(let payload)? = event.removeValue(forKey: "payload") else { return "there is no payload" }
        let properties = definition.properties.filter { !$0.isDropped }
        var columns: [(name: String, type: ColumnType, value: ReferenceJSON?)] = zip(
            ["id", "time", "receivedAt", "userId", "anonymousId", "sessionId", "context"],
            EventTable.ownColumns.map(\.type)
        ).map { ($0, $1, event[$0]) }
        columns += properties.map { property in
            let value = payload.first { String(codePoints: $0.key) == property.name }?.value
            return (property.name, ColumnType(property.type), value)
        }
        if definition.allowsAdditionalProperties {
            let names = Set(properties.map(\.name))
            let extra = payload.filter { !names.contains(String(codePoints: $0.key)) }
            columns.append(("extra", .jsonb, extra.isEmpty ? nil : .object(extra)))
        }
        guard row.fields.count == columns.count else { return "\(row.fields.count) fields" }
        for (field, column) in zip(row.fields, columns) {
            let (decoded, expected) = (CopyValue(field, column.type), CopyValue(of: column.value, column.type))
            if decoded == nil || decoded != expected {
                return "\(column.name): \(decoded as Any), not \(expected as Any)"
            }
        }
        return nil
    }
}
