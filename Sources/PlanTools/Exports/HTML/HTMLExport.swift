import EventModel
package import EventSchema

/// The tracking plan as an HTML page for readers who do not work with the plan files.
///
/// The page is one file without dependencies, to be mailed, printed, or opened from a disk. Its script is needed only for the
/// search. A link that ends in `#q=basket&owner=checkout&tracker=kafka` opens the page with that search.
package struct HTMLExport: Sendable {
    private let plan: TrackingPlan

    /// Prepares the export of a valid plan.
    package init(_ plan: TrackingPlan) {
        self.plan = plan
    }

    /// The page.
    package var text: String {
        let catalogue = Catalogue(plan)
        let page: HTML = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(Self.policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(catalogue.title)</title>
            <style>\(PageAsset.style.html)</style>
            </head>
            <body>
            <a class="skip" href="#all-events">Skip to the events</a>
            \(Self.header(of: catalogue))
            <div class="columns">
            \(Self.contents(of: catalogue))
            <main id="all-events" tabindex="-1">
            <p class="nothing" hidden>No event matches. <button type="button" class="reset">Show all events</button></p>
            \(Self.context(plan.context))\(catalogue.chapters.enumerated().map(Self.chapter))
            </main>
            </div>
            <footer><p>Made by <code>sluice export html</code> from the tracking plan.</p></footer>
            <script>\(PageAsset.script.html)</script>
            </body>
            </html>

            """
        return page.text
    }

    /// The Content-Security-Policy: browsers apply only this style and this script, whatever the plan's texts contain.
    private static let policy =
        "default-src 'none'; style-src '\(PageAsset.style.digest)'; script-src '\(PageAsset.script.digest)'; "
        + "base-uri 'none'; form-action 'none'"

    private static func header(of catalogue: Catalogue) -> HTML {
        """
        <header>
        <div class="title">
        <h1>\(catalogue.title)</h1>
        <p class="status" role="status">\(catalogue.eventCount.of("event"))</p>
        </div>
        <form class="finder" role="search" aria-label="Events">
        <p class="field words"><label for="find-words">Search</label>
        <input id="find-words" type="search" placeholder="Event, property, meaning …" autocomplete="off" \
        spellcheck="false">
        <kbd aria-hidden="true">/</kbd></p>
        \(choice("owner", "Owner", catalogue.chapters.compactMap(\.owner)))
        \(choice("tracker", "Goes to", catalogue.trackers))
        </form>
        </header>
        """
    }

    private static func choice(_ id: String, _ label: String, _ values: [String]) -> HTML {
        let options = values.map { value -> HTML in "<option value=\"\(value)\">\(value)</option>" }
        return """
            <p class="field"><label for="find-\(id)">\(label)</label>
            <select id="find-\(id)"><option value="">any</option>
            \(options)
            </select></p>
            """
    }

    private static func contents(of catalogue: Catalogue) -> HTML {
        let chapters = catalogue.chapters.enumerated().map { number, chapter -> HTML in
            let entries = chapter.events.map { event -> HTML in
                let isDeprecated = event.deprecated == nil ? "" as HTML : " <small>deprecated</small>"
                return "<li><a href=\"#\(event.anchor)\">\(event.name)</a>\(isDeprecated)</li>"
            }
            return """
                <li><a class="chapter" href="#chapter-\(number + 1)">\(title(of: chapter))</a>
                <ul>
                \(entries)
                </ul></li>
                """
        }
        return """
            <nav aria-label="Contents">
            <details open><summary>Contents</summary>
            <ul>
            \(chapters)
            </ul>
            </details>
            </nav>
            """
    }

    private static func context(_ attributes: [ContextAttribute]) -> HTML {
        guard !attributes.isEmpty else { return "" }
        let items = attributes.map { attribute -> HTML in
            let meaning: HTML = attribute.description.map { "<p>\($0)</p>" } ?? ""
            return
                "<div><dt><code>\(attribute.name)</code></dt><dd>\(attribute.sensitivity.explanation)\(meaning)</dd></div>"
        }
        return """
            <section class="context" aria-labelledby="sensitive-context">
            <h2 id="sensitive-context">Sensitive keys of the context</h2>
            <dl class="facts">\(items)</dl>
            </section>

            """
    }

    private static func chapter(_ number: Int, _ chapter: Catalogue.Chapter) -> HTML {
        let id = "chapter-\(number + 1)"
        return """
            <section class="chapter" aria-labelledby="\(id)" data-owner="\(chapter.owner ?? "")">
            <h2 id="\(id)">\(title(of: chapter))</h2>
            \(chapter.events.map { EventArticle($0).html })
            </section>
            """
    }

    private static func title(of chapter: Catalogue.Chapter) -> String { chapter.owner ?? "No owner" }
}
