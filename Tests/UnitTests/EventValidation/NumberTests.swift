import EventSchema
import EventValidation
import TestCases
import Testing

@Suite("A number")
struct NumberTests {
    /// A plan with a bare integer, number and decimal, none of them required.
    static let catalog = EventCatalog(
        plan: TrackingPlan(events: [
            EventDefinition(
                key: "N",
                trackers: ["console"],
                properties: [
                    PropertyDefinition(name: "i", type: .integer, isRequired: false, location: .line(1)),
                    PropertyDefinition(name: "n", type: .number, isRequired: false, location: .line(2)),
                    PropertyDefinition(
                        name: "small",
                        type: .integer,
                        isRequired: false,
                        minimum: .integer(-1),
                        maximum: .integer(1),
                        location: .line(3)
                    ),
                ],
                location: .line(4)
            )
        ])
    )

    func payload(_ members: String) throws -> String {
        try EventValidator(catalog: Self.catalog).payload(of: #"{"name":"N","payload":{\#(members)}}"#)
    }

    func verdict(_ members: String) throws -> [String] {
        try EventValidator(catalog: Self.catalog).check(#"{"name":"N","payload":{\#(members)}}"#).summary
    }

    @Test(
        "is an integer if it is whole, however it is written",
        arguments: [
            ("0", "0"), ("-0", "0"), ("-0.0", "0"), ("1.0", "1"), ("1e3", "1000"), ("1.5E1", "15"), ("100e-2", "1"),
            ("-12.00", "-12"), ("9223372036854775807", "9223372036854775807"),
            ("-9223372036854775808", "-9223372036854775808"), ("9007199254740993.0", "9007199254740993"),
            ("9.223372036854775807e18", "9223372036854775807"), ("-9223372036854775808.0", "-9223372036854775808"),
            ("1e0000000001", "10"),
        ]
    )
    func whole(sent: String, canonical: String) throws {
        #expect(try payload("\"i\":\(sent)") == "{\"i\":\(canonical)}")
    }

    @Test(
        "is not an integer if it has a fraction, even one that a double would lose",
        arguments: [
            "1.5", "0.1", "1e-1", "4503599627370497.3", "1.00000000000000000001", "9007199254740993.5", "1e-400",
        ]
    )
    func notWhole(sent: String) throws {
        #expect(try verdict("\"i\":\(sent)") == ["wrong-type $.payload.i: integer / number (1)"])
    }

    @Test(
        "is out of an integer's range if it does not fit into 64 signed bits",
        arguments: [
            "9223372036854775808", "18446744073709551615", "9223372036854775808.0", "1e19", "-1e300",
            "18446744073709551616",
            "-9223372036854775809", "123456789012345678901234567890", "1e400", "-1e400", "1e99999999999",
            String(repeating: "9", count: 400), "-" + String(repeating: "9", count: 2500),
        ]
    )
    func beyondInt64(sent: String) throws {
        #expect(
            try verdict("\"i\":\(sent)") == ["out-of-range $.payload.i: integer of 64 bits / a value out of range (1)"]
        )
    }

    @Test("may be equal to a limit of the plan", arguments: ["-1", "0", "1", "1.0", "-1e0"])
    func withinLimits(sent: String) throws {
        #expect(try verdict("\"small\":\(sent)") == [])
    }

    @Test("may not exceed a limit of the plan", arguments: ["-2", "2", "2.0", "-2e0"])
    func beyondLimits(sent: String) throws {
        #expect(
            try verdict("\"small\":\(sent)")
                == ["out-of-range $.payload.small: integer, at least -1 and at most 1 / a value out of range (3)"]
        )
    }

    @Test(
        "beyond 64 bits is a number, in the form of its double",
        arguments: [
            ("18446744073709551616", "1.8446744073709552e+19"), ("18446744073709552000", "1.8446744073709552e+19"),
            ("-9223372036854775809", "-9.223372036854776e+18"), ("1" + String(repeating: "0", count: 308), "1e+308"),
        ]
    )
    func beyond64Bits(sent: String, canonical: String) throws {
        #expect(try payload("\"n\":\(sent)") == "{\"n\":\(canonical)}")
        #expect(try payload("\"n\":\(canonical)") == "{\"n\":\(canonical)}", "and is its own canonical form")
    }

    @Test(
        "beyond the range of a double is out of range, at its own path",
        arguments: ["1e400", "-1e400", "1e99999999999", "1" + String(repeating: "0", count: 309)]
    )
    func beyondDouble(sent: String) throws {
        let expected = "number within the range of a double / a value out of range (2)"
        #expect(try verdict("\"n\":\(sent)") == ["out-of-range $.payload.n: \(expected)"])
    }

    @Test(
        "has the shortest canonical form that reads back as the same value",
        arguments: [
            ("6.0", "6"), ("2.50", "2.5"), ("0.10", "0.1"), ("-0.0", "0"), ("-0", "0"), ("1e2", "100"),
            ("0.000001", "0.000001"),
            ("1e15", "1000000000000000"), ("123456789012345678", "123456789012345678"), ("1e16", "1e+16"),
            ("18446744073709551615", "18446744073709551615"), ("0.1e-6", "1e-07"), ("5e-324", "5e-324"),
            ("3.0000000000000000000001", "3"), ("1e-400", "0"), ("9007199254740993.0", "9007199254740992"),
        ]
    )
    func canonical(sent: String, canonical: String) throws {
        #expect(try payload("\"n\":\(sent)") == "{\"n\":\(canonical)}")
        #expect(try payload("\"n\":\(canonical)") == "{\"n\":\(canonical)}", "and is its own canonical form")
    }

    @Test(
        "in another format is malformed JSON",
        arguments: ["01", "1.", ".5", "+1", "-", "1e", "1e+", "0x1", "1_000", "NaN", "Infinity", "--1", "1.5.5"]
    )
    func malformed(sent: String) throws {
        let validator = EventValidator(catalog: Self.catalog)
        #expect(throws: MalformedBody.self) { _ = try validator.check("{\"name\":\"N\",\"payload\":{\"n\":\(sent)}}") }
        let checked = try validator.check("[{\"name\":\"N\"},{\"name\":\"N\",\"payload\":{\"n\":\(sent)}}]")
        #expect(checked.verdicts == [["malformed-json $"]])
    }
}
