import EventSchema

/// The part of the page about one event.
struct EventArticle {
    private static let deepestIndentation = 4

    private let event: EventDefinition

    init(_ event: EventDefinition) {
        self.event = event
    }

    var html: HTML {
        """
        <article id="\(event.anchor)" aria-labelledby="\(event.anchor)-name">
        <div class="head"><h3 id="\(event.anchor)-name"><a href="#\(event.anchor)">\(event.name)</a></h3>\
        <button type="button" class="copy" aria-label="Copy the link to \(event.name)">Copy link</button></div>
        \(deprecation(event.deprecated))\(description)
        <dl class="facts">\(owner)\(destinations)\(openness)</dl>
        \(properties)
        <details class="example"><summary>Example event</summary>
        <pre tabindex="0"><code>\(ExampleEvent(of: event).json.lines)</code></pre>
        </details>
        </article>
        """
    }

    private var description: HTML {
        event.description.map { "<p class=\"lead\">\($0)</p>" } ?? ""
    }

    private var owner: HTML {
        event.owner.map { "<div><dt>Owner</dt><dd>\($0)</dd></div>" } ?? ""
    }

    private var destinations: HTML {
        let trackers = event.trackers.map { name -> HTML in "<span class=\"tracker\">\(name)</span>" }
        return "<div><dt>Goes to</dt><dd>\(trackers)</dd></div>"
    }

    private var openness: HTML {
        event.allowsAdditionalProperties
            ? "<div><dt>Note</dt><dd>other properties are allowed</dd></div>" : ""
    }

    private func deprecation(_ sentence: String?) -> HTML {
        sentence.map { "<p class=\"deprecated\"><strong>Deprecated.</strong> \($0)</p>\n" } ?? ""
    }

    // MARK: Properties

    private var properties: HTML {
        let rows = PropertyRow.rows(of: event.properties)
        if rows.isEmpty { return "<p class=\"none\">This event has no properties.</p>" }
        return """
            <h4>Properties</h4>
            <ul class="properties">
            \(rows.map(line))
            </ul>
            """
    }

    private func line(_ row: PropertyRow) -> HTML {
        let property = row.definition
        let parent: HTML = row.parent.isEmpty ? "" : "<span class=\"parent\">\(row.parent)</span>"
        let facts = PropertyFact.facts(of: property)
        let meaning: HTML = property.description.map { "<p>\($0)</p>\n" } ?? ""
        let list: HTML = facts.isEmpty ? "" : "<dl class=\"facts\">\(facts.map(fact))</dl>\n"
        return """
            <li class="depth-\(min(row.depth, Self.deepestIndentation))">
            <div class="name"><code>\(parent)<b>\(row.name)</b></code>
            <p class="kind">\(kind(of: row))</p></div>
            <div class="meaning">\(deprecation(property.deprecated))\(meaning)\(list)</div>
            </li>
            """
    }

    private func kind(of row: PropertyRow) -> HTML {
        let presence: HTML =
            row.isItem ? "each item" : row.definition.mustBePresent ? "<em>required</em>" : "optional"
        let null: HTML = row.definition.isNullable ? ", may be null" : ""
        return "\(row.type), \(presence)\(null)"
    }

    private func fact(_ fact: PropertyFact) -> HTML {
        switch fact.content {
        case .words(let words): return "<div><dt>\(fact.label)</dt><dd>\(words)</dd></div>"
        case .values(let values):
            let codes = values.map { value -> HTML in "<code>\(value)</code>" }
            return "<div><dt>\(fact.label)</dt><dd>\(codes)</dd></div>"
        }
    }
}
