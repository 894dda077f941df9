import EventModel
import EventSchema
import EventValidation
import Foundation
import PlanTools
import ServerTestSupport
import TestPromises
import Testing

/// The check, the exported JSON Schema and Python's `decimal` on numbers of all lengths, signs, exponents and places.
@Suite("What becomes of numbers", .timeLimit(.minutes(5)))
struct NumberAgreementTests {
    private struct Result: Encodable {
        let place: String
        let number: String
        let event: String
        let codes: [String]
        let stored: String?
    }

    private static let id = "0192a3f4-5b6c-7d8e-9f00-112233445566"
    /// The places of a number in an event, with the path in verdicts and the bytes around it in the canonical line.
    private static let places: [(name: String, path: String, members: @Sendable (String) -> String)] = [
        ("number", "$.payload.number", { #""payload":{"number":\#($0)}"# }),
        ("integer", "$.payload.integer", { #""payload":{"integer":\#($0)}"# }),
        ("decimal", "$.payload.decimal", { #""payload":{"decimal":\#($0)}"# }),
        ("any", "$.payload.any", { #""payload":{"any":\#($0)}"# }),
        ("extra", "$.payload.extra.a[1]", { #""payload":{"extra":{"a":[0,\#($0)]}}"# }),
        ("context", "$.context.c", { #""context":{"c":\#($0)},"payload":{}"# }),
    ]

    private static let plan: TrackingPlan = {
        let place = PlanLocation(file: "plan.plist", line: 1, column: 1)
        let types: [(String, PropertyType)] = [
            ("number", .number), ("integer", .integer), ("decimal", .decimal), ("any", .any),
        ]
        let properties = types.map {
            PropertyDefinition(name: $0.0, type: $0.1, isRequired: false, location: place)
        }
        return TrackingPlan(events: [
            EventDefinition(
                key: "E",
                trackers: ["console"],
                properties: properties,
                allowsAdditionalProperties: true,
                location: place
            )
        ])
    }()

    /// Numbers of all lengths around the limits, with both signs, exponents and places.
    private static var numbers: [String] {
        let limits = [
            "9223372036854775807", "9223372036854775808", "9223372036854775809", "18446744073709551615",
            "18446744073709551616", "18446744073709552000", "9007199254740992", "9007199254740993", "0", "1",
        ]
        let lengths: [Int] = Array(1...40) + [64, 100, 200, 300, 307, 308, 309, 310, 400, 999, 1000, 1001, 1990, 5000]
        let whole = lengths.flatMap { length -> [String] in
            [
                "1" + String(repeating: "0", count: length - 1),
                String(String(repeating: "123456789", count: length).prefix(length)),
            ]
        }
        let exponents: [Int] = [
            -100_000, -5000, -1001, -1000, -999, -400, -330, -324, -320, -308, -100, -68, -64, -20, -1, 0, 1, 18, 19,
            20, 63,
            64, 68, 100, 306, 307, 309, 400, 999, 1000, 5000, 100_000,
        ]
        let coefficients = [
            "0", "1", "9", "1.5", "0.1", "123456789012345678", "1.2345678901234567890", "0.000", "2.50", "99.00",
        ]
        let exponential = coefficients.flatMap { coefficient -> [String] in
            exponents.flatMap { exponent -> [String] in
                ["\(coefficient)e\(exponent)", "\(coefficient)E\(exponent < 0 ? "" : "+")\(exponent)"]
            }
        }
        let places = [1, 2, 6, 14, 15, 16, 17, 18, 30, 323, 324, 330, 998, 999, 1000, 1001].flatMap {
            count -> [String] in
            [
                "0." + String(repeating: "0", count: count - 1) + "1", "1." + String(repeating: "3", count: count),
                "12345678." + String(repeating: "0", count: count),
            ]
        }
        var magnitudes = limits + whole + exponential + places
        magnitudes += limits.flatMap { ["\($0).0", "\($0).5"] }
        return magnitudes + magnitudes.map { "-" + $0 }
    }

    @Test(
        "agree with Python's decimal and with the exported JSON Schema, wherever they are, and are stored exactly",
        .promise("exact-numbers")
    )
    func agreement() async throws {
        let folder = try TestFolder()
        let validator = EventValidator(catalog: EventCatalog(plan: Self.plan))
        try folder.write(JSONSchemaExport(Self.plan).envelope.text, to: "schema.json")
        var lines: [String] = []
        let encoder = JSONEncoder()
        for number in Self.numbers {
            for place in Self.places {
                let envelope = #""name":"E","id":"\#(Self.id)","time":"2024-10-01T00:00:00Z""#
                let event = "{\(envelope),\(place.members(number))}"
                let checked = try Array(event.utf8).withUnsafeBytes { try validator.check($0, as: .document) }
                let rejection = checked.rejections.first
                // A rejection names the property, and the event.
                #expect(rejection.map { $0.violations.map(\.path) } ?? [place.path] == [place.path], "\(number)")
                #expect(rejection.map(\.id) ?? Self.id == Self.id)
                let line = checked.batch.map { String(decoding: $0.line(at: 0), as: UTF8.self) }
                let result = Result(
                    place: place.name,
                    number: number,
                    event: event,
                    codes: rejection?.violations.map(\.code.rawValue) ?? [],
                    stored: line.map { Self.stored(in: $0, place.members) }
                )
                lines.append(String(decoding: try encoder.encode(result), as: UTF8.self))
            }
        }
        try folder.write(lines.joined(separator: "\n"), to: "results.ndjson")
        let output = try await ClientScript.run(
            "number_agreement",
            [folder.path("schema.json"), folder.path("results.ndjson")],
            in: folder
        )
        #expect(output == ["\(lines.count)"], "\(output.prefix(20))")
        #expect(lines.count > 8000)
    }

    /// The number in a canonical line.
    private static func stored(in line: String, _ members: (String) -> String) -> String {
        let parts = members("|").split(separator: "|")
        guard parts.count == 2, let start = line.range(of: String(parts[0])), line.hasSuffix(parts[1] + "}") else {
            return line
        }
        return String(line[start.upperBound...].dropLast(parts[1].count + 1))
    }
}
