import EventModel
import EventSchema
import EventValidation
import Foundation
import GoldenShapes
import TestCases
import TestPromises
import Testing

/// What the plan protects never leaves the check.
@Suite("Sensitive values")
struct PrivacyTests {
    private static let key = HashKey(Array("0123456789abcdef0123456789abcdef".utf8))
    /// HMAC-SHA-256 of `ada@example.com`, computed by Python's `hmac`.
    private static let hash = "hmac-sha256:e3e30b4d50224a4ba14084607085d072402144212a122eb4501daddd6bbe0ee3"
    /// The same of `192.0.2.7`.
    private static let addressHash = "hmac-sha256:53db62d6a946d0fa863e3ff4da7ba0c733e57aee8ece477d8d270b3b676c1cdf"
    private static let withheld = #""This text is not stored: it may contain values that the plan protects.""#

    private static func property(
        _ name: String,
        _ type: PropertyType,
        _ sensitivity: Sensitivity?,
        required: Bool = true,
        properties: [PropertyDefinition]? = nil,
        items: PropertyDefinition? = nil
    ) -> PropertyDefinition {
        PropertyDefinition(
            name: name,
            type: type,
            isRequired: required,
            isNullable: !required,
            sensitivity: sensitivity,
            maxLength: type == .string ? 20 : nil,
            items: items,
            properties: properties,
            location: .line(1)
        )
    }

    private static let person = PropertyDefinition(
        name: "",
        type: .object,
        properties: [property("name", .string, nil), property("phone", .string, .drop, required: false)],
        location: .line(1)
    )

    fileprivate static let plan = TrackingPlan(
        context: [
            ContextAttribute(name: "ip", sensitivity: .hash, location: .line(1)),
            ContextAttribute(name: "device", sensitivity: .drop, location: .line(1)),
            ContextAttribute(name: "campaign", sensitivity: .trackers(["postgres"]), location: .line(1)),
        ],
        events: [
            EventDefinition(
                key: "Signed Up",
                trackers: ["postgres", "kafka"],
                properties: [
                    property("email", .string, .hash), property("age", .integer, .drop),
                    property("plan", .string, nil, required: false),
                    property("people", .array, nil, required: false, items: person),
                    property("iban", .string, .trackers(["postgres"]), required: false),
                ],
                location: .line(1)
            ),
            EventDefinition(
                key: "Left",
                trackers: ["kafka"],
                properties: [property("email", .string, nil, required: false)],
                location: .line(1)
            ),
        ]
    )

    private static let catalog = EventCatalog(plan: plan, hashKey: key)

    private static func validator(_ catalog: EventCatalog = catalog) -> EventValidator {
        EventValidator(catalog: catalog, acceptsReceivedAt: true, now: { Sent.arrival })
    }

    private static func signUp(_ payload: String, envelope: String = "") -> String {
        #"{"name":"Signed Up"\#(envelope),"payload":{\#(payload)}}"#
    }

    private static let valid = signUp(#""email":"ada@example.com","age":36,"plan":"pro""#)

    /// The context and the payload of one valid event, or only the payload if it has no context.
    private func rest(of event: String, _ validator: EventValidator = validator()) throws -> String {
        let checked = try validator.check(event)
        let line = try #require(checked.lines.first, "\(checked.summary)")
        let start = try #require(line.range(of: #"Z","context":"#) ?? line.range(of: #"Z","payload":"#))
        return String(line[start.upperBound...].dropLast())
    }

    // MARK: Accepted events

    @Test("a dropped value is checked and removed, and a hashed one replaced by its HMAC")
    func treatment() throws {
        #expect(try rest(of: Self.valid) == #"{"email":"\#(Self.hash)","plan":"pro"}"#)
        let unordered = Self.signUp(#""age":36,"email":"ada@example.com""#)
        #expect(try rest(of: unordered) == #"{"email":"\#(Self.hash)"}"#)
        let verdicts = try Self.validator().check(Self.signUp(#""email":"ada@example.com","age":"old""#)).verdicts
        #expect(verdicts == [["wrong-type $.payload.age"]])
    }

    @Test("limits apply to the value before it is hashed")
    func limits() throws {
        let long = Self.signUp(#""email":"ada.lovelace@example.com""#)
        #expect(try Self.validator().check(long).verdicts == [["too-long $.payload.email"]])
    }

    @Test("values within objects and arrays are protected")
    func nesting() throws {
        let event = Self.signUp(#""email":"ada@example.com","people":[{"phone":"1","name":"a"},{"name":"b"}]"#)
        #expect(try rest(of: event) == #"{"email":"\#(Self.hash)","people":[{"name":"a"},{"name":"b"}]}"#)
    }

    @Test("an event that is checked again stays as it is, without what was dropped")
    func repetition() throws {
        let first = try Self.validator().check(Self.valid).lines
        #expect(try Self.validator().check(first.joined(separator: "\n"), as: .lines).lines == first)
        let reread = EventValidator(rereading: Self.catalog)
        #expect(try reread.check(first.joined(separator: "\n"), as: .lines).lines == first)
    }

    @Test("keys of the context are protected, and a hashed one that is no string is removed")
    func context() throws {
        func context(_ members: String) throws -> String {
            let event = Self.signUp(#""email":"ada@example.com""#, envelope: #","context":{\#(members)}"#)
            let rest = try rest(of: event)
            return String(rest[..<(try #require(rest.range(of: #","payload""#)).lowerBound)])
        }
        #expect(
            try context(#""ip":"192.0.2.7","device":{"id":1},"app":"2""#)
                == #"{"ip":"\#(Self.addressHash)","app":"2"}"#
        )
        #expect(try context(#""ip":{"v4":"192.0.2.7"}"#) == "{}")
        #expect(try context(#""ip":null,"campaign":"x""#) == #"{"ip":null,"campaign":"x"}"#)
        #expect(try context("") == "{}")
        #expect(try context(#""app":{"ip":"kept"}"#) == #"{"app":{"ip":"kept"}}"#)
    }

    @Test("the sender's address and its traceparent become keys of the context, unless the event states them")
    func address() throws {
        func context(_ catalog: EventCatalog, _ envelope: String, trace: String = "") throws -> String {
            let event = Array(#"{"name":"Left"\#(envelope),"payload":{}}"#.utf8)
            let validator = Self.validator(catalog)
            let additions = ContextAdditions(clientAddress: Array("192.0.2.7".utf8), traceparent: Array(trace.utf8))
            var progress = validator.begin(bodyOf: event.count, as: .document, additions: additions)
            var budget = CheckBudget(bytes: 1000, rejections: 10)
            let isDone = try event.withUnsafeBytes { try validator.check($0, from: &progress, within: &budget) }
            #expect(isDone)
            let line = validator.finish(progress).lines.first ?? ""
            return String(line.components(between: #","context":"#, and: #","payload""#))
        }
        var open = Self.plan
        open.context = []
        #expect(try context(EventCatalog(plan: open, hashKey: Self.key), "") == #"{"ip":"192.0.2.7"}"#)
        #expect(try context(Self.catalog, "") == #"{"ip":"\#(Self.addressHash)"}"#)
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        let both = #"{"ip":"192.0.2.7","traceparent":"\#(trace)"}"#
        #expect(try context(EventCatalog(plan: open, hashKey: Self.key), "", trace: trace) == both)
        let own = #","context":{"traceparent":"mine"}"#
        #expect(
            try context(EventCatalog(plan: open, hashKey: Self.key), own, trace: trace)
                == #"{"traceparent":"mine","ip":"192.0.2.7"}"#
        )
        #expect(try context(Self.catalog, #","context":{"a":1}"#) == #"{"a":1,"ip":"\#(Self.addressHash)"}"#)
        #expect(
            try context(EventCatalog(plan: open, hashKey: Self.key), #","context":{"ip":"10.0.0.1"}"#)
                == #"{"ip":"10.0.0.1"}"#
        )
        open.context = [ContextAttribute(name: "ip", sensitivity: .drop, location: .line(1))]
        #expect(try context(EventCatalog(plan: open, hashKey: Self.key), "") == "")
    }

    @Test("without a key, values that should be hashed are removed")
    func noKey() throws {
        let catalog = EventCatalog(plan: Self.plan)
        #expect(catalog.lacksHashKey && !Self.catalog.lacksHashKey)
        #expect(try rest(of: Self.valid, Self.validator(catalog)) == #"{"plan":"pro"}"#)
        #expect(try rest(of: Self.valid, Self.validator(catalog.hashing(with: #require(Self.key)))).contains(Self.hash))
    }

    @Test("a key has at least 16 bytes, and no description of it shows it")
    func keys() throws {
        #expect(HashKey(Array(repeating: 1, count: 15)) == nil)
        let key = try #require(HashKey(Array("secret-secret-secret".utf8)))
        var text = "\(key)"
        dump(key, to: &text)
        #expect(text.hasPrefix("a key of 20 bytes") && !text.contains("115"))
    }

    // MARK: Rejected events

    @Test(
        "a stored rejected event has none of the protected values, wherever they are",
        .promise("protected-values"),
        arguments: [
            (
                signUp(#""email":"ada@example.com","age":36,"plan":7"#),
                #"{"name":"Signed Up","payload":{"email":"\#(hash)","plan":7}}"#
            ),
            (
                // In the wrong place.
                #"{"name":"Signed Up","email":"ada@example.com","payload":{"x":[{"age":1.00,"y":1.00}],"email":{"a":1}}}"#,
                #"{"name":"Signed Up","email":"\#(hash)","payload":{"x":[{"y":1.00}]}}"#
            ),
            (
                // An unknown event: every protected key of the plan.
                #"{"name":"Sigend Up","payload":{"email":"ada@example.com","phone":"1","iban":"2"}}"#,
                #"{"name":"Sigend Up","payload":{"email":"\#(hash)","iban":"2"}}"#
            ),
            (
                // The event's own definition decides.
                #"{"name":"Left","payload":{"email":"ada@example.com","x":1}}"#,
                #"{"name":"Left","payload":{"email":"ada@example.com","x":1}}"#
            ),
            (
                #"{"name":"Left","context":{"ip":"192.0.2.7","device":1,"a":"\n\"\u0001"},"payload":1}"#,
                #"{"name":"Left","context":{"ip":"\#(addressHash)","a":"\n\"\u0001"},"payload":1}"#
            ),
            (#"[{"phone":"x","a":[]}]"#, #"[{"a":[]}]"#),
            (
                // A property in the context.
                #"{"name":"Signed Up","context":{"email":"ada@example.com","d":{"email":"ada@example.com"}},"payload":{}}"#,
                #"{"name":"Signed Up","context":{"email":"\#(hash)","d":{"email":"\#(hash)"}},"payload":{}}"#
            ),
            (
                // Objects that the sender encoded twice.
                #"{"name":"Signed Up","context":"{\"ip\":\"192.0.2.7\"}","payload":"{\"email\":\"ada@example.com\"}"}"#,
                #"{"name":"Signed Up","context":\#(withheld),"payload":\#(withheld)}"#
            ),
            (
                #"{"name":"Signed Up","payload":{"x":[" {\"email\":\"ada@example.com\"}","x","\"\\\"1\""],"y":"a{}"}}"#,
                #"{"name":"Signed Up","payload":{"x":[\#(withheld),"x",\#(withheld)],"y":"a{}"}}"#
            ),
            (#""{\"name\":\"Signed Up\",\"payload\":{\"email\":\"ada@example.com\"}}""#, withheld),
            (
                // A key of the context in the wrong place.
                #"{"name":"Left","ip":"192.0.2.7","payload":{"ip":"192.0.2.7","x":{"device":1}},"context":[{"device":2}]}"#,
                #"{"name":"Left","ip":"\#(addressHash)","payload":{"ip":"\#(addressHash)","x":{}},"context":[{}]}"#
            ),
        ]
    )
    func quarantine(sent: String, stored: String) throws {
        let array = try Self.validator().check("[\(sent)]")
        #expect(array.rejections.map { String(decoding: $0.original, as: UTF8.self) } == [stored])
        let line = try Self.validator().check(sent, as: .lines)
        #expect(line.rejections.map { String(decoding: $0.original, as: UTF8.self) } == [stored])
        // It can be sent again.
        let again = try Self.validator().check(stored, as: .lines)
        #expect(again.rejections.map { String(decoding: $0.original, as: UTF8.self) } == [stored])
    }

    @Test("each of two names that differ only in Unicode normalization is protected", .promise("protected-values"))
    func normalization() throws {
        let names = ["pr\u{e9}nom", "pre\u{301}nom"]
        let plan = TrackingPlan(
            context: names.map { ContextAttribute(name: "c" + $0, sensitivity: .drop, location: .line(1)) },
            events: names.enumerated().map { number, name in
                EventDefinition(
                    key: "Event \(number)",
                    trackers: ["kafka"],
                    properties: [Self.property(name, .string, .drop)],
                    location: .line(1)
                )
            }
        )
        let validator = Self.validator(EventCatalog(plan: plan))
        for name in names {
            let unknown = #"{"name":"None","c\#(name)":1,"context":{"c\#(name)":1},"payload":{"\#(name)":"x","y":1}}"#
            let rejected = try validator.check(unknown, as: .lines).rejections
            let stored = #"{"name":"None","context":{},"payload":{"y":1}}"#
            #expect(rejected.map { String(decoding: $0.original, as: UTF8.self) } == [stored])
        }
        let context = names.map { #""c\#($0)":1"# }.joined(separator: ",")
        let valid = #"{"name":"Event 0","context":{"d":1,\#(context)},"payload":{"\#(names[0])":"x"}}"#
        #expect(try rest(of: valid, validator) == #"{"d":1},"payload":{}"#)
    }

    @Test("an event that nests too deeply is stored without what is deeper")
    func deep() throws {
        let (open, close) = (String(repeating: "[", count: 500), String(repeating: "]", count: 500))
        let event = #"{"name":"Signed Up","payload":{"x":\#(open)\#(close)}}"#
        let checked = try Self.validator().check(event, as: .lines)
        let stored = String(decoding: try #require(checked.rejections.first).original, as: UTF8.self)
        #expect(stored.contains("[[null]]"))
        #expect(stored.utf8.count < 200)
    }

    @Test("a long event is stored, as a line and in an array")
    func long() throws {
        let event = #"{"name":"Left","payload":{"x":"\#(String(repeating: "y", count: 9_000))","bad":1},"nonsense":1}"#
        let checks = [try Self.validator().check(event, as: .lines), try Self.validator().check("[\(event)]")]
        for checked in checks {
            #expect(checked.rejections.map { String(decoding: $0.original, as: UTF8.self) } == [event])
        }
    }

    @Test("hashes do not multiply what is stored of a rejected event")
    func growth() throws {
        let members = Array(repeating: #""email":"x""#, count: 10_000).joined(separator: ",")
        let checked = try Self.validator().check("{\(members)}", as: .lines)
        let stored = String(decoding: try #require(checked.rejections.first).original, as: UTF8.self)
        #expect(stored.hasPrefix("The event is not stored"))
    }

    @Test("a text that cannot be searched for protected values is not stored", .promise("protected-values"))
    func unreadable() throws {
        let checked = try Self.validator().check(
            #"{"name":"Signed Up","payload":{"email":"ada@example.com""#,
            as: .lines
        )
        #expect(checked.verdicts == [["malformed-json $"]])
        let stored = String(decoding: try #require(checked.rejections.first).original, as: UTF8.self)
        #expect(stored.hasPrefix("The event is not stored"))
        var harmless = Self.plan
        harmless.context = []
        harmless.events.removeFirst()
        let kept = try Self.validator(EventCatalog(plan: harmless)).check("{broken", as: .lines)
        #expect(kept.rejections.map { String(decoding: $0.original, as: UTF8.self) } == ["{broken"])
    }

    // MARK: Trackers

    @Test("a tracker that may not see a value gets the event without it")
    func visibility() throws {
        let catalog = Self.catalog
        #expect(catalog.visible(to: "Postgres") === catalog)
        let kafka = catalog.visible(to: "kafka")
        #expect(kafka !== catalog)
        let event = Self.signUp(
            #""email":"ada@example.com","iban":"DE1""#,
            envelope: #","context":{"campaign":"x","a":1}"#
        )
        let lines = try Self.validator().check(event).lines
        #expect(lines.first?.contains(#""iban":"DE1""#) == true)
        let seen = try EventValidator(rereading: kafka).check(lines.joined(), as: .lines).lines
        #expect(
            seen == lines.map { $0.replacing(#","iban":"DE1""#, with: "").replacing(#""campaign":"x","#, with: "") }
        )
    }

    // MARK: Typed events

    @Test("typed events are protected in the same way as events that arrive as JSON", .promise("protected-values"))
    func typed() throws {
        let catalog = Protected.catalog.hashing(with: try #require(Self.key))
        var builder = EventBatchBuilder(catalog: catalog, now: { Sent.arrival })
        try builder.append(
            Protected(),
            context: EventContext(attributes: ["device": "x", "app": "2"]),
            id: EventID("0190a2b4-0000-7000-8000-000000000001")
        )
        let batch = builder.finish()
        let typed = try #require(batch)
        let sent = #"""
            {"id":"0190a2b4-0000-7000-8000-000000000001","name":"Limits Kept","context":{"device":"x","app":"2"},
            "payload":{"code":"AB","count":1,"share":0.5,"price":"1"}}
            """#
        let checked = try Self.validator(catalog).check(sent.replacing("\n", with: ""))
        #expect(Array(typed.lines) == Array(try #require(checked.batch).lines), "\(checked.summary)")
        #expect(!String(decoding: typed.lines, as: UTF8.self).contains(#""count""#))
    }

    /// `Limits Kept` with two protected properties, of a generated catalog, which has no key.
    private struct Protected: AnalyticsEvent {
        static let catalog: EventCatalog = {
            var plan = ShapesEvents.catalog.plan
            for (place, sensitivity) in [(0, Sensitivity.hash), (2, .drop)] {
                plan.events[definitionIndex].properties[place].sensitivity = sensitivity
            }
            plan.context = PrivacyTests.plan.context
            return EventCatalog(plan: plan)
        }()
        static var definitionIndex: Int { ShapesEvents.LimitsKept.definitionIndex }

        func encode(into payload: inout PayloadEncoder) {
            payload.string("AB")
            payload.string(nil)
            payload.integer(1)
            payload.number(0.5)
            payload.decimal(1)
        }
    }
}

extension String {
    /// What is between two texts; empty if one of them is missing.
    fileprivate func components(between start: String, and end: String) -> Substring {
        guard let first = range(of: start), let last = range(of: end) else { return "" }
        return self[first.upperBound..<last.lowerBound]
    }
}
