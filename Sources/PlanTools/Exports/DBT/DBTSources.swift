import EventSchema

/// The tables of the plan as a source of dbt, with their descriptions, and tests of the plan's limits.
///
/// A pattern has no test, because PostgreSQL's regular expressions are not those of the plan.
struct DBTSources {
    private let events: [EventDefinition]
    private let schema: String
    private let ownColumns: [DBTExport.Column]

    init(_ events: [EventDefinition], schema: String, ownColumns: [DBTExport.Column]) {
        self.events = events
        self.schema = schema
        self.ownColumns = ownColumns
    }

    /// The file, which ends with a newline.
    var text: String {
        let head = #"""
            version: 2

            # Tests read the rows of the window only. Its beginning is a constant, with which PostgreSQL opens no earlier
            # partition.
            anchors:
              - &limits
                severity: "{{ var('sluice_severity') }}"
                where: >-
                  occurred_at >= timestamptz '{{ var('sluice_since')
                  or (run_started_at - modules.datetime.timedelta(days=var('sluice_days') | int)).strftime('%Y-%m-%d')
                  }} 00:00+00'

            sources:
              - name: sluice
                schema: \#(DBTText.quotedForJinja(schema))
                description: The events of the tracking plan, a table for each, as Sluice loads them.
                tables:

            """#
        return head + events.map(table).joined(separator: "\n")
    }

    private func table(of event: EventDefinition) -> String {
        var lines = ["      - name: \(DBTText.quotedForJinja(event.anchor))"]
        lines += Self.description([event.description, event.deprecated.map { "Deprecated: \($0)" }], indentation: 8)
        lines.append("        columns:")
        for column in ownColumns { lines += Self.column(column.name, [column.description], tests: []) }
        for property in event.properties where !property.isDropped {
            lines += Self.column(
                SQLName.snakeCase(property.name),
                [property.description, property.deprecated.map { "Deprecated: \($0)" }],
                tests: Self.tests(of: property)
            )
        }
        if event.allowsAdditionalProperties {
            lines += Self.column(
                SQLName.additionalPropertiesColumn,
                ["Properties that the plan does not name."],
                tests: []
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func column(_ name: String, _ descriptions: [String?], tests: [[String]]) -> [String] {
        var lines = ["          - name: \(DBTText.quotedForJinja(name))", "            quote: true"]
        lines += description(descriptions, indentation: 12)
        if !tests.isEmpty { lines.append("            data_tests:") }
        for test in tests { lines += test.map { "              " + $0 } }
        return lines
    }

    private static func description(_ texts: [String?], indentation: Int) -> [String] {
        let texts = texts.compactMap(\.self)
        guard !texts.isEmpty else { return [] }
        return [
            String(repeating: " ", count: indentation)
                + "description: \(DBTText.quotedForJinja(texts.joined(separator: " ")))"
        ]
    }

    /// The tests of a column, each as its lines.
    private static func tests(of property: PropertyDefinition) -> [[String]] {
        var tests: [[String]] = []
        if property.isRequired, !property.isNullable { tests.append(test("not_null")) }
        // The column has the hash, for which the limits of the value do not hold.
        guard property.sensitivity != .hash else { return tests }
        if let values = property.enumeration {
            // The test quotes the values and does not escape them; PostgreSQL reads each as a value of the column's type.
            let quote = /'/.matchingSemantics(.unicodeScalar)
            let list = values.map { DBTText.quotedForJinja($0.text.replacing(quote, with: "''")) }
            tests.append(test("accepted_values", ["values: [\(list.joined(separator: ", "))]"]))
        }
        let limits = [property.minimum?.text, property.maximum?.text]
        if limits.contains(where: { $0 != nil }) { tests.append(test("sluice_between", bounds(limits))) }
        let lengths = [property.minLength, property.maxLength].map { $0.map(String.init) }
        if lengths.contains(where: { $0 != nil }) { tests.append(test("sluice_length_between", bounds(lengths))) }
        return tests
    }

    private static func bounds(_ texts: [String?]) -> [String] {
        zip(["least", "greatest"], texts).compactMap { name, text in text.map { "\(name): \(DBTText.quoted($0))" } }
    }

    private static func test(_ name: String, _ arguments: [String] = []) -> [String] {
        let stated = arguments.isEmpty ? [] : ["    arguments:"] + arguments.map { "      " + $0 }
        return ["- \(name):"] + stated + ["    config: *limits"]
    }
}
