import EventModel
package import EventSchema

/// The tracking plan as a page of GitHub's Markdown, for a repository's documentation.
package struct MarkdownExport: Sendable {
    private let plan: TrackingPlan

    /// Prepares the export of a valid plan.
    package init(_ plan: TrackingPlan) {
        self.plan = plan
    }

    /// The page: a table of contents, and a section for each event.
    package var text: String {
        let catalogue = Catalogue(plan)
        var blocks = [
            "# \(MarkdownText.words(catalogue.title))",
            "\(catalogue.eventCount.of("event")). "
                + "Made by `sluice export markdown` from the plan: edit that.",
            "## Contents", Self.contents(of: catalogue),
        ]
        blocks += Self.context(plan.context)
        for event in catalogue.chapters.flatMap(\.events) { blocks += Self.section(of: event) }
        return blocks.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
    }

    private static func contents(of catalogue: Catalogue) -> String {
        catalogue.chapters.flatMap { chapter in
            ["- \(chapter.owner.map(MarkdownText.words) ?? "Without an owner")"]
                + chapter.events.map { event in
                    "  - [\(MarkdownText.words(event.name))](#\(event.anchor))"
                        + (event.deprecated == nil ? "" : " (deprecated)")
                }
        }
        .joined(separator: "\n")
    }

    private static func context(_ attributes: [ContextAttribute]) -> [String] {
        guard !attributes.isEmpty else { return [] }
        let lines = attributes.map { attribute in
            "- \(MarkdownText.code(attribute.name)): \(attribute.sensitivity.explanation)"
                + (attribute.description.map { ". \(MarkdownText.prose($0))" } ?? "")
        }
        return ["## Sensitive keys of the context", lines.joined(separator: "\n")]
    }

    private static func section(of event: EventDefinition) -> [String] {
        let rows = PropertyRow.rows(of: event.properties)
        return [
            "<a id=\"\(event.anchor)\"></a>", "## \(MarkdownText.words(event.name))",
            event.deprecated.map { "> **Deprecated.** \(MarkdownText.prose($0))" } ?? "",
            event.description.map(MarkdownText.prose) ?? "",
            "- Owner: \(event.owner.map(MarkdownText.words) ?? "none")\n"
                + "- Goes to: \(event.trackers.map(MarkdownText.words).joined(separator: ", "))",
            rows.isEmpty ? "It has no properties of its own." : table(of: rows),
            event.allowsAdditionalProperties ? "Other properties are allowed in its payload." : "",
            "```json\n\(ExampleEvent(of: event).json.lines)\n```",
        ]
    }

    private static func table(of rows: [PropertyRow]) -> String {
        let head = ["Property", "Type", "Required", "Null", "Limits", "Allowed values", "Examples", "Description"]
        let lines = [head, head.map { _ in "---" }] + rows.map(cells)
        return lines.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }

    private static func cells(of row: PropertyRow) -> [String] {
        let property = row.definition
        let words =
            [property.deprecated.map { "**Deprecated:** \(MarkdownText.prose($0))" }]
            + [property.sensitivity.map { "**Sensitive:** \($0.explanation)" }]
            + [property.description.map(MarkdownText.prose)]
        return [
            MarkdownText.code(row.parent + row.name), row.type,
            row.isItem ? "" : property.mustBePresent ? "yes" : "no", property.isNullable ? "yes" : "no",
            PropertyFact.limits(of: property).map { "\($0.label.lowercased()) \(text(of: $0))" }.joined(
                separator: "; "
            ),
            PropertyFact.allowedValues(of: property).map(text).joined(),
            PropertyFact.examples(of: property).map(text).joined(),
            words.compactMap(\.self).joined(separator: "<br>"),
        ]
    }

    private static func text(of fact: PropertyFact) -> String {
        switch fact.content {
        case .words(let words): words
        case .values(let values): values.map(MarkdownText.code).joined(separator: ", ")
        }
    }
}
