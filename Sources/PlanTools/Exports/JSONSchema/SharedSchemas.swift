import EventSchema

/// The `$defs` of every schema: the plan's types that JSON does not have.
///
/// None of them has the keyword `type`. Each keyword applies to one JSON type and ignores the others, so a property can
/// allow `null` as well.
enum SharedSchemas {
    static let all: [(key: String, value: OrderedJSON)] = [
        ("text", schema("Unicode text without NUL and without half a surrogate pair.", pattern: SchemaPattern.text)),
        ("value", value),
        ("integer", bounds("A whole number of 64 bits.", "-9223372036854775808", "9223372036854775807")),
        ("number", bounds("A number within a double.", "-\(greatestDouble)", greatestDouble)),
        ("decimal", decimal),
        ("timestamp", timestamp),
        ("leapSecond", schema("A second that UTC added at its midnight.", pattern: SchemaPattern.leapSecond)),
        ("date", schema("A day, as an RFC 3339 full-date.", pattern: SchemaPattern.date)),
        ("uuid", schema("A UUID in the text form of RFC 9562.", pattern: SchemaPattern.uuid)),
    ]

    static func reference(to name: String) -> (key: String, value: OrderedJSON) {
        ("$ref", .string("#/$defs/\(name)"))
    }

    private static let greatestDouble = "1.7976931348623157e308"

    private static func schema(_ description: String, pattern: String) -> OrderedJSON {
        .object([("description", .string(description)), ("pattern", .string(pattern))])
    }

    private static func bounds(_ description: String, _ least: String, _ greatest: String) -> OrderedJSON {
        .object([
            ("description", .string(description)), ("minimum", .number(least)), ("maximum", .number(greatest)),
        ])
    }

    /// Any value, with valid strings at every level.
    private static let value: OrderedJSON = .object([
        ("description", .string("Any JSON value whose texts and numbers Sluice can pass on.")),
        ("pattern", .string(SchemaPattern.text)),
        ("minimum", .number("-\(greatestDouble)")), ("maximum", .number(greatestDouble)),
        ("items", .object([reference(to: "value")])),
        ("propertyNames", .object([reference(to: "text")])),
        ("additionalProperties", .object([reference(to: "value")])),
    ])

    private static let decimal: OrderedJSON = .object([
        ("description", .string("An exact decimal number: a JSON number, or one in a string.")),
        (
            "$comment",
            .string(
                "Sluice accepts at most 1,000 digits, and any exponent that this pattern matches in a string; a greater one, and one "
                    + "of a number, only where the number, written out, has at most 64 characters more than were sent."
            )
        ),
        ("pattern", .string(SchemaPattern.decimal)),
    ])

    private static let timestamp: OrderedJSON = .object([
        ("description", .string("A moment, as an RFC 3339 date-time; the offset may lack its colon or its minutes.")),
        ("$comment", .string("Sluice refuses a moment that its offset moves out of the years 0001 to 9999.")),
        ("pattern", .string(SchemaPattern.timestamp)),
        ("if", .object([("pattern", .string(":60"))])),
        ("then", .object([reference(to: "leapSecond")])),
    ])
}
