import EventSchema
import EventValidation
import TestCases
import Testing

@Suite("A decimal")
struct DecimalTests {
    static let catalog = EventCatalog(
        plan: TrackingPlan(events: [
            EventDefinition(
                key: "D",
                trackers: ["console"],
                properties: [
                    PropertyDefinition(name: "d", type: .decimal, isRequired: false, location: .line(1)),
                    PropertyDefinition(
                        name: "limited",
                        type: .decimal,
                        isRequired: false,
                        minimum: .string("-0.10"),
                        maximum: .string("99999999999999999999.99"),
                        location: .line(2)
                    ),
                    PropertyDefinition(
                        name: "rate",
                        type: .decimal,
                        isRequired: false,
                        enumeration: [.string("0.190"), .string("7e-2"), .string("0")],
                        location: .line(3)
                    ),
                ],
                location: .line(4)
            )
        ])
    )

    func payload(_ members: String) throws -> String {
        try EventValidator(catalog: Self.catalog).payload(of: #"{"name":"D","payload":{\#(members)}}"#)
    }

    func verdict(_ members: String) throws -> [String] {
        try EventValidator(catalog: Self.catalog).check(#"{"name":"D","payload":{\#(members)}}"#).summary
    }

    @Test(
        "keeps every digit, as a number and as a string",
        arguments: [
            ("1.50", "1.50"), ("0.1", "0.1"), ("-0.00", "0.00"), ("1e3", "1000"), ("12.5E-3", "0.0125"),
            ("1.50e1", "15.0"),
            ("0.1234567890123456789012345678901234567890", "0.1234567890123456789012345678901234567890"),
            ("9007199254740993.00", "9007199254740993.00"), ("18446744073709551615", "18446744073709551615"),
            ("12345678901234567890123456789.5", "12345678901234567890123456789.5"), ("1e00000002", "100"),
        ]
    )
    func digits(sent: String, canonical: String) throws {
        #expect(try payload("\"d\":\(sent)") == "{\"d\":\"\(canonical)\"}")
        #expect(try payload("\"d\":\"\(sent)\"") == "{\"d\":\"\(canonical)\"}")
        #expect(try payload("\"d\":\"\(canonical)\"") == "{\"d\":\"\(canonical)\"}", "and is its own canonical form")
    }

    @Test("keeps the digits of each number among other values")
    func amongOthers() throws {
        let event =
            #"{"name":"D","context":{"1":[-1,2.5,"3",{"4":5e5}],"6":true},"payload":{"limited":1.10,"d":-2.200}}"#
        let checked = try EventValidator(catalog: Self.catalog).check("[\(event),7,\(event)]")
        #expect(checked.lines.count == 2)
        #expect(checked.lines.allSatisfy { $0.hasSuffix(#""payload":{"d":"-2.200","limited":"1.10"}}"#) })
    }

    @Test(
        "in a string has the form of a JSON number",
        arguments: ["", " 1", "1 ", "+1", ".5", "5.", "01", "1,5", "0x1", "NaN", "१", "1e", "--1", "1\\u0000"]
    )
    func otherStrings(sent: String) throws {
        #expect(
            try verdict("\"d\":\"\(sent)\"")
                == [
                    "wrong-type $.payload.d: a decimal number, or one in a string, of at most 1000 digits / another string (1)"
                ]
        )
    }

    @Test("has at most 1,000 digits, including those of its exponent")
    func length() throws {
        let longest = "0." + String(repeating: "9", count: 999)
        #expect(try payload("\"d\":\"\(longest)\"") == "{\"d\":\"\(longest)\"}")
        for tooLong in [longest + "9", "1e1000", "1e-1000", "1e999999", "1e99999999999999999999"] {
            let found = try verdict("\"d\":\"\(tooLong)\"")
            #expect(
                found == [
                    "wrong-type $.payload.d: a decimal number, or one in a string, of at most 1000 digits / another string (1)"
                ]
            )
        }
        #expect(
            try verdict("\"d\":\(longest)9")
                == ["out-of-range $.payload.d: decimal of at most 1000 digits / more (1)"]
        )
        let digits = String(repeating: "7", count: 400)
        #expect(try payload("\"d\":-\(digits)") == "{\"d\":\"-\(digits)\"}")
    }

    @Test(
        "has at most 64 digits from its exponent, so that a short text remains short",
        arguments: ["1e68", "1e-68", "1e70", "-1e-70", "1e999"]
    )
    func exponent(sent: String) throws {
        let verdict = ["out-of-range $.payload.d: decimal whose exponent adds at most 64 digits / more (1)"]
        #expect(try self.verdict("\"d\":\"\(sent)\"") == verdict)
        // As the exported schema's comment states: 64 is always accepted, and more if the number has few digits.
        for sent in ["1e64", "1e-64", "1e67", "1e-67"] { #expect(try self.verdict("\"d\":\"\(sent)\"") == []) }
    }

    @Test("is compared with its limits exactly")
    func limits() throws {
        let beyond =
            "out-of-range $.payload.limited: decimal, at least -0.10 and at most 99999999999999999999.99 / a value out of range (2)"
        for sent in ["-0.1", "-0.1000", "-1e-1", "99999999999999999999.99", "99999999999999999999.990", "0"] {
            #expect(try verdict("\"limited\":\"\(sent)\"") == [])
        }
        for sent in ["-0.1000000000000000000001", "99999999999999999999.991", "1e20", "-1"] {
            #expect(try verdict("\"limited\":\"\(sent)\"") == [beyond])
        }
        #expect(try verdict("\"limited\":99999999999999999999.991") == [beyond])
    }

    @Test("is compared with an enumeration by value")
    func enumeration() throws {
        for sent in ["0.19", "\"0.190\"", "19e-2", "0.07", "\"0.0700\"", "-0", "\"0.0\""] {
            #expect(try verdict("\"rate\":\(sent)") == [])
        }
        #expect(
            try verdict("\"rate\":0.1900000000000000000001")
                == [#"not-in-enum $.payload.rate: one of "0.190", "0.07", "0" / another decimal (3)"#]
        )
    }

    @Test(
        "is a number or a string, and nothing else",
        arguments: [("true", "boolean"), ("[1]", "array"), ("null", "null")]
    )
    func otherTypes(sent: String, kind: String) throws {
        #expect(
            try verdict("\"d\":\(sent)")
                == [
                    "wrong-type $.payload.d: a decimal number, or one in a string, of at most 1000 digits / \(kind) (1)"
                ]
        )
    }
}
