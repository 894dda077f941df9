import EventModel
import EventSchema
import EventValidation
import SluiceExec
import SluiceTesting
import Testing
import TrackerKit

@Suite("The messages for a Singer target")
struct SingerMessagesTests {
    private static let state = SingerState(tracker: "lake \"1\"", run: "abc", delivery: 7)

    /// A plan of two events of which the first one has decimals in all places.
    private static func catalog(description: String? = nil) -> EventCatalog {
        let location = PlanLocation(file: "plan.plist", line: 1, column: 1)
        func property(_ name: String, _ type: PropertyType) -> PropertyDefinition {
            PropertyDefinition(name: name, type: type, location: location)
        }
        var prices = property("prices", .array)
        prices.items = property("", .decimal)
        var nested = property("in \"it\"", .object)
        nested.properties = [property("text", .string), property("price", .decimal), prices]
        return EventCatalog(
            plan: TrackingPlan(events: [
                EventDefinition(
                    key: "Item Sold",
                    description: description,
                    trackers: ["lake"],
                    properties: [
                        property("text", .string), property("price", .decimal), nested, property("any", .any),
                    ],
                    location: location
                ),
                EventDefinition(key: "Left", trackers: ["lake"], location: location),
            ])
        )
    }

    private static func slice(_ catalog: EventCatalog, _ events: [ScriptedEvent]) -> EventSlice {
        EventSlice(.scripted(catalog: catalog, events: events))
    }

    /// The messages of a delivery, and the events that were left out.
    private static func messages(
        _ slices: [EventSlice],
        _ decimals: SingerDecimals = .strings
    ) -> (lines: [String], refused: [Int]) {
        var messages = SingerMessages(Delivery(slices), decimals: decimals, state: state)
        var text: [UInt8] = []
        while let piece = messages.next() { text += piece }
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return (lines.map(String.init), messages.refusals.map(\.position))
    }

    @Test("have a schema before the first event of a stream, each canonical line as it is, and the state at the end")
    func order() {
        let catalog = Self.catalog()
        let events = [
            ScriptedEvent("Left", number: 1), ScriptedEvent("Item Sold", number: 2, payload: #"{"price":"1.50"}"#),
            ScriptedEvent("Left", number: 3),
        ]
        let lines = Self.messages([Self.slice(catalog, events)]).lines
        func schema(_ index: Int) -> String {
            String(
                decoding: SingerStream(catalog.definitions[index], decimals: .strings).announcement.dropLast(),
                as: UTF8.self
            )
        }
        func record(_ stream: String, _ event: ScriptedEvent) -> String {
            #"{"type":"RECORD","stream":"\#(stream)","record":\#(event.canonicalJSON),"#
                + #""time_extracted":"\#(event.receivedAt)"}"#
        }
        #expect(
            lines == [
                schema(1), record("left", events[0]), schema(0), record("item_sold", events[1]),
                record("left", events[2]),
                #"{"type":"STATE","value":{"tracker":"lake \"1\"","run":"abc","delivery":7}}"#, "",
            ]
        )
        #expect(schema(1).hasPrefix(#"{"type": "SCHEMA", "stream": "left", "schema": {"type": "object", "#))
        #expect(schema(1).hasSuffix(#", "key_properties": ["id"]}"#))
    }

    @Test("are only the state without events")
    func empty() {
        #expect(Self.messages([]).lines.count == 2)
    }

    @Test("state a schema again only if another plan has changed it")
    func otherPlan() {
        let sold = ScriptedEvent("Item Sold", number: 1)
        let slices = [Self.catalog(), Self.catalog(), Self.catalog(description: "New.")].map { Self.slice($0, [sold]) }
        let types = Self.messages(slices).lines.map { $0.hasPrefix(#"{"type": "SCHEMA""#) }
        #expect(types == [true, false, false, true, false, false, false])
    }

    @Test("come in pieces, with every event once")
    func pieces() throws {
        let events = (0..<5000).map {
            ScriptedEvent("Left", number: $0, payload: "{\"text\":\"\(String(repeating: "x", count: 500))\"}")
        }
        var messages = SingerMessages(
            Delivery([Self.slice(Self.catalog(), events)]),
            decimals: .strings,
            state: Self.state
        )
        var pieces: [[UInt8]] = []
        while let piece = messages.next() { pieces.append(piece) }
        #expect(pieces.count > 1)
        #expect(pieces.allSatisfy { $0.count < 1_100_000 && $0.last == UInt8(ascii: "\n") })
        let ids = String(decoding: pieces.joined(), as: UTF8.self).matches(of: /"record":\{"id":"([^"]*)"/).map { $0.1 }
        #expect(ids.map(String.init) == events.map { "\($0.id)" })
    }

    // MARK: Decimals

    private static func record(of payload: String, _ decimals: SingerDecimals) -> String? {
        let event = ScriptedEvent("Item Sold", number: 1, payload: payload)
        let lines = messages([slice(catalog(), [event])], decimals).lines
        return lines.first { $0.hasPrefix(#"{"type":"RECORD""#) }?.firstMatch(of: /"payload":(.*)\},"time_extracted"/)
            .map { String($0.1) }
    }

    @Test("have decimals as numbers, if that is wanted, wherever the plan has some and nowhere else")
    func numbers() {
        let payload = #"""
            {"text":"\"price\":\"1\"}]","price":"-12.50","in \"it\"":{"text":"2","price":null,"prices":["0",null,"3.000000001"]},"any":{"price":"4"}}
            """#
        let numbers = #"""
            {"text":"\"price\":\"1\"}]","price":-12.50,"in \"it\"":{"text":"2","price":null,"prices":[0,null,3.000000001]},"any":{"price":"4"}}
            """#
        #expect(Self.record(of: payload, .strings) == payload)
        #expect(Self.record(of: payload, .numbers) == numbers)
        #expect(Self.record(of: "{}", .numbers) == "{}")
        #expect(Self.record(of: #"{"in \"it\"":{"prices":[]},"any":[[],{}]}"#, .numbers) != nil)
    }

    @Test(
        "leave out an event with a decimal that has too many digits for a number",
        arguments: [
            ("1234567890123456789.123456789", false), ("-1234567890123456789.000000000000", false),
            ("12345678901234567890", true), ("0.1234567891", true),
        ]
    )
    func digits(decimal: String, isRefused: Bool) {
        let events = [
            ScriptedEvent("Item Sold", number: 1, payload: #"{"price":"\#(decimal)"}"#),
            ScriptedEvent("Item Sold", number: 2, payload: #"{"price":"1"}"#),
        ]
        let (lines, refused) = Self.messages([Self.slice(Self.catalog(), events)], .numbers)
        #expect(refused == (isRefused ? [0] : []))
        #expect(lines.count { $0.hasPrefix(#"{"type":"RECORD""#) } == (isRefused ? 1 : 2))
        #expect(lines.first?.hasPrefix(#"{"type": "SCHEMA""#) == true)
        #expect(Self.messages([Self.slice(Self.catalog(), events)]).refused == [])
    }

    // MARK: Names

    @Test(
        "name a stream so that targets make one table of it",
        arguments: [
            ("Song Played", "song_played"), ("checkout-started", "checkout_started"), ("a.b/c", "a_b_c"),
            ("Ünder", "ünder"),
        ]
    )
    func names(event: String, stream: String) {
        #expect(SingerStream.name(of: event) == stream)
    }

    @Test("two events of one stream are an error")
    func sameNames() throws {
        let catalog = EventCatalog.scripted(["Song Played": ["lake"], "song-played": ["lake"], "Other": ["lake"]])
        let tracker: ExecTracker = .exec(["target"], protocol: .singer, name: "lake")
        let error = #expect(throws: TrackerError.self) { try tracker.checkSettings(for: catalog) }
        #expect(error?.code == .invalidSettings)
        #expect(
            error?.message == "The events 'Song Played' and 'song-played' have the same stream 'song_played'; "
                + "rename one, or give it another tracker."
        )
        try ExecTracker.exec(["target"], protocol: .singer, name: "other").checkSettings(for: catalog)
        try ExecTracker.exec(["target"], name: "lake").checkSettings(for: catalog)
    }

    // MARK: The state

    @Test(
        "are confirmed by the state, however a target writes it",
        arguments: [
            (#"{"tracker":"lake \"1\"","run":"abc","delivery":7}"#, true),
            ("{ \"delivery\" : 7, \"run\": \"\\u0061bc\", \"tracker\": \"lake \\\"1\\\"\" }\r", true),
            (#"{"tracker":"lake \"1\"","run":"abc","delivery":8}"#, false),
            (#"{"tracker":"lake \"1\"","run":"abd","delivery":7}"#, false),
            (#"{"tracker":"lake \"1\"","run":"abc","delivery":"7"}"#, false),
            (#"{"tracker":"lake \"1\"","run":"abc","delivery":7,"more":1}"#, false),
            (#"{"tracker":"lake \"1\"","run":"abc","delivery":7"#, false),
            ("", false), ("null", false), ("done", false),
        ]
    )
    func states(line: String, isState: Bool) {
        #expect(Self.state.isStated(by: Array(line.utf8)) == isState)
    }

    @Test(
        "are confirmed by the last line of the output only",
        arguments: [
            (["a\nb\n"], "b"), (["a\nb"], "b"), (["a", "b\n", "\n\n"], "ab"), (["a\n", "", "b", "c"], "bc"), ([], ""),
        ]
    )
    func lastLine(pieces: [String], line: String) throws {
        var output = LastLine()
        for piece in pieces { try Self.append(Array(piece.utf8), to: &output) }
        #expect(String(decoding: output.bytes, as: UTF8.self) == line)
    }

    @Test("are not confirmed by an output without end")
    func endlessOutput() throws {
        var output = LastLine()
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        for _ in 0..<16 { try Self.append(piece, to: &output) }
        #expect(output.bytes.count == 64 << 10)
        let error = #expect(throws: TrackerError.self) { try Self.append([1], to: &output) }
        #expect(error?.code == .failed)
    }

    private static func append(_ bytes: [UInt8], to output: inout LastLine) throws(TrackerError) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(TrackerError) in try output.append(bytes) }
        }
        try result.get()
    }
}
