import EventSchema
import Foundation
import PlanReading
import PlanTools
import ServerTestSupport
import Testing

/// The page that `sluice export html` writes, in a browser.
@Suite("The HTML catalogue in Chromium", .serialized, .timeLimit(.minutes(5)))
struct CatalogueTests {
    private let folder: TestFolder
    private let browser: Browser

    init() throws {
        folder = try TestFolder()
        browser = try Browser(in: folder)
    }

    private static func ownPlan() throws -> TrackingPlan {
        try #require(PlanReader().read(paths: [Sluice.plan]).plan)
    }

    private func open(_ plan: TrackingPlan) throws {
        try folder.write(HTMLExport(plan).text, to: "plan.html")
    }

    /// The ids of the visible events.
    private static func shown(in document: String) -> [String] {
        document.matches(of: /<article id="([^"]*)"([^>]*)>/).filter { !$0.2.contains("hidden") }.map { String($0.1) }
    }

    @Test(
        "a link with a search shows the events that match it, by name, property, owner, tracker and description",
        arguments: [
            ("#q=refund%20issued", ["refund_issued"]), ("#q=STOCKCODE", ["item_purchased", "item_returned"]),
            ("#owner=payments", ["payment_failed"]), ("#q=voucher&tracker=postgres&owner=growth", ["voucher_applied"]),
            ("#q=first%20look%20at%20nothing", []), ("#owner=nobody&q=stockcode%20customer%20care", ["item_returned"]),
        ] as [(String, [String])]
    )
    func search(fragment: String, events: [String]) async throws {
        try open(try Self.ownPlan())
        let document = try await browser.document("plan.html", fragment: fragment)
        #expect(Self.shown(in: document).sorted() == events)
        #expect(document.contains(#"<p class="nothing" hidden="">"#) == !events.isEmpty)
        #expect(document.contains(">\(events.count) of \(try Self.ownPlan().events.count) events<"))
    }

    @Test("without scripts, every event and every property is visible")
    func plainPage() async throws {
        let plan = try Self.ownPlan()
        try open(plan)
        struct Findings: Decodable {
            let shown: [String]
            let contents: [String]
            let finder: String
        }
        let findings = try await browser.evaluate(
            """
            const texts = selector => [...document.querySelectorAll(selector)].map(part => part.textContent);
            return {
              shown: texts("article:not([hidden]) h3"), contents: texts("nav li li a"),
              finder: page.getComputedStyle(document.querySelector(".finder")).display
            };
            """,
            on: "plan.html",
            fragment: "#q=refund",
            runsScripts: false,
            as: Findings.self
        )
        #expect(Set(findings.shown) == Set(plan.events.map(\.name)))
        #expect(findings.contents == findings.shown)
        #expect(findings.finder == "none")
    }

    @Test("'/' focuses the search, typing filters and sets a link, and Escape shows all events again")
    func keyboard() async throws {
        struct Steps: Decodable, Equatable {
            let focus: String
            let shown: Int
            let hash: String
            let shownAtEnd: Int
            let contents: Int
        }
        try open(try Self.ownPlan())
        let steps = try await browser.evaluate(
            """
            const shown = () => document.querySelectorAll("article:not([hidden])").length;
            const press = (key, target) =>
              target.dispatchEvent(new page.KeyboardEvent("keydown", { key, bubbles: true }));
            press("/", document.body);
            const words = document.activeElement;
            words.value = "stockCode";
            words.dispatchEvent(new page.Event("input"));
            const steps = {
              focus: words.id, shown: shown(), hash: page.location.hash,
              contents: document.querySelectorAll("nav li li:not([hidden])").length
            };
            press("Escape", words);
            return { ...steps, shownAtEnd: shown() };
            """,
            on: "plan.html",
            as: Steps.self
        )
        let count = try Self.ownPlan().events.count
        #expect(steps == Steps(focus: "find-words", shown: 2, hash: "#q=stockCode", shownAtEnd: count, contents: 2))
    }

    @Test("a link to an event that a search has hidden shows the event")
    func linkToHiddenEvent() async throws {
        try open(try Self.ownPlan())
        let isHidden = try await browser.evaluate(
            """
            page.location.hash = "refund_issued";
            page.dispatchEvent(new page.HashChangeEvent("hashchange"));
            return document.getElementById("refund_issued").hidden;
            """,
            on: "plan.html",
            fragment: "#q=stockCode",
            as: Bool.self
        )
        #expect(!isHidden)
    }

    @Test("no part of the page is wider than the window", arguments: [320, 360, 768, 1280])
    func widths(width: Int) async throws {
        struct Widths: Decodable {
            let window: Int
            let page: Int
            let beyond: [String]
        }
        var plan = try Self.ownPlan()
        plan.events += [Self.event(with: String(repeating: "Wide", count: 60))]
        try open(plan)
        let widths = try await browser.evaluate(
            """
            for (const part of document.querySelectorAll("details")) part.open = true;
            const root = document.documentElement;
            const parts = [...document.querySelectorAll("body *:not(.skip)")];
            const beyond = parts.filter(part => part.getBoundingClientRect().right > root.clientWidth + 1);
            return {
              window: root.clientWidth, page: root.scrollWidth, beyond: beyond.map(part => part.outerHTML)
            };
            """,
            on: "plan.html",
            width: width,
            as: Widths.self
        )
        #expect(widths.page <= widths.window)
        #expect(widths.beyond == [])
        #expect(widths.window > width - 30)
    }

    @Test("a value is broken across lines only if it is longer than a line", arguments: [360, 1280])
    func values(width: Int) async throws {
        struct Values: Decodable {
            let count: Int
            let torn: [String]
            let tooWide: [String]
            let lines: Int
        }
        let place = PlanLocation(file: "plan.plist", line: 1, column: 1)
        let long = String(repeating: "long-", count: 60)
        let values = (1...40).map { "value-\(String(1_000 + $0).dropFirst())" } + [long]
        var property = PropertyDefinition(name: "kind", type: .string, location: place)
        property.enumeration = values.map { .string($0) }
        try open(
            TrackingPlan(events: [
                EventDefinition(key: "Sold", trackers: ["console"], properties: [property], location: place)
            ])
        )
        let found = try await browser.evaluate(
            """
            const chips = [...document.querySelectorAll(".meaning dd code")];
            const height = Math.min(...chips.map(chip => chip.getBoundingClientRect().height));
            const heights = chips.map(chip => chip.getBoundingClientRect().height / height);
            const tooWide = chips.filter(chip => chip.scrollWidth > chip.parentElement.clientWidth);
            return {
              count: chips.length, lines: Math.floor(heights.at(-1)),
              torn: chips.filter((chip, index) => chip.getClientRects().length > 1 || index < 40 && heights[index] > 1.1)
                .map(chip => chip.textContent),
              tooWide: tooWide.map(chip => chip.textContent)
            };
            """,
            on: "plan.html",
            width: width,
            as: Values.self
        )
        #expect(found.count == values.count)
        #expect(found.torn == [])
        #expect(found.tooWide == [])
        #expect(found.lines > 1)
    }

    @Test("markup in the plan's texts is shown as text, and no script in it runs")
    func markup() async throws {
        struct Findings: Decodable, Equatable {
            let scripts: Int
            let images: Int
            let handlers: Int
            let hasRun: Bool
            let name: String
        }
        let attack =
            #"</script></style>"'><script>document.title='run'</script><img src=x onerror="document.title='run'">&amp;"#
        try open(TrackingPlan(version: attack, events: [Self.event(with: attack)]))
        let findings = try await browser.evaluate(
            """
            const parts = [...document.querySelectorAll("*")];
            return {
              scripts: document.scripts.length, images: document.images.length,
              handlers: parts.filter(part => part.getAttributeNames().some(name => name.startsWith("on"))).length,
              hasRun: document.title === "run", name: document.querySelector("h3").textContent
            };
            """,
            on: "plan.html",
            as: Findings.self
        )
        #expect(findings == Findings(scripts: 1, images: 0, handlers: 0, hasRun: false, name: attack))
    }

    @Test("the page makes no network request, and runs only its own script")
    func selfContained() async throws {
        struct Findings: Decodable {
            let resources: [String]
            let hasRun: Bool
            let isStyled: Bool
        }
        try open(try Self.ownPlan())
        let findings = try await browser.evaluate(
            """
            const script = document.createElement("script");
            script.textContent = "document.title = 'run'";
            document.body.append(script);
            return {
              resources: page.performance.getEntriesByType("resource").map(entry => entry.name),
              hasRun: document.title === "run",
              isStyled: page.getComputedStyle(document.querySelector(".skip")).left !== "auto"
            };
            """,
            on: "plan.html",
            as: Findings.self
        )
        #expect(findings.resources == [])
        #expect(!findings.hasRun)
        #expect(findings.isStyled)
    }

    @Test("controls have names, and sections have headings")
    func accessibility() async throws {
        struct Findings: Decodable {
            let landmarks: [String]
            let nameless: [String]
            let repeatedIDs: Int
            let headings: [Int]
        }
        try open(try Self.ownPlan())
        let findings = try await browser.evaluate(
            """
            const landmarks = [...document.querySelectorAll("header, nav, main, footer, [role=search]")];
            const usable = [...document.querySelectorAll("input, select, button, a, summary")];
            const ids = [...document.querySelectorAll("[id]")].map(part => part.id);
            const name = part => part.labels?.[0]?.textContent || part.getAttribute("aria-label")
              || part.textContent.trim();
            return {
              landmarks: landmarks.map(part => part.getAttribute("role") ?? part.tagName.toLowerCase()),
              nameless: usable.filter(part => !name(part)).map(part => part.outerHTML),
              repeatedIDs: ids.length - new Set(ids).size,
              headings: [...document.querySelectorAll("h1, h2, h3, h4")].map(part => Number(part.tagName[1]))
            };
            """,
            on: "plan.html",
            as: Findings.self
        )
        #expect(findings.landmarks == ["header", "search", "nav", "main", "footer"])
        #expect(findings.nameless == [])
        #expect(findings.repeatedIDs == 0)
        #expect(findings.headings.first == 1)
        #expect(zip(findings.headings, findings.headings.dropFirst()).allSatisfy { $1 <= $0 + 1 })
    }

    @Test("text has enough contrast, in light and in dark mode", arguments: [0, 1])
    func contrast(theme: Int) throws {
        let page = HTMLExport(TrackingPlan(events: [])).text
        let colors = page.components(separatedBy: ":root {")[theme + 1].prefix { $0 != "}" }
            .matches(of: /--([a-z-]+): #([0-9a-f]{6});/)
            .reduce(into: [:]) { $0[String($1.1)] = Self.luminance(String($1.2)) }
        let pairs = [
            ("ink", "paper"), ("quiet", "paper"), ("accent", "paper"), ("warning", "paper"), ("ink", "tint"),
            ("quiet", "tint"), ("warning", "warning-tint"), ("ink", "found"),
        ]
        for (word, ground) in pairs {
            let both = [try #require(colors[word]), try #require(colors[ground])].sorted()
            // The minimum of WCAG 2 at level AA.
            #expect((both[1] + 0.05) / (both[0] + 0.05) >= 4.5, "\(word) on \(ground)")
        }
    }

    /// The relative luminance of a colour, as WCAG 2 defines it.
    private static func luminance(_ color: String) -> Double {
        let value = Int(color, radix: 16) ?? 0
        let parts = [value >> 16, value >> 8 & 0xFF, value & 0xFF].map { part in
            let share = Double(part) / 255
            return share <= 0.03928 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }

    @Test("the printed page has the collapsed examples, and not the search")
    func paper() async throws {
        try open(try Self.ownPlan())
        let pdf = try await browser.print("plan.html")
        #expect(pdf.starts(with: Data("%PDF-".utf8)))
        struct Parts: Decodable, Equatable {
            let openBefore: Int
            let openInPrint: Int
            let openAfter: Int
        }
        let parts = try await browser.evaluate(
            """
            const open = () => document.querySelectorAll(".example[open]").length;
            const openBefore = open();
            page.dispatchEvent(new page.Event("beforeprint"));
            const openInPrint = open();
            page.dispatchEvent(new page.Event("afterprint"));
            return { openBefore, openInPrint, openAfter: open() };
            """,
            on: "plan.html",
            as: Parts.self
        )
        #expect(parts == Parts(openBefore: 0, openInPrint: try Self.ownPlan().events.count, openAfter: 0))
    }

    /// An event with this text in every place where a plan has one.
    private static func event(with text: String) -> EventDefinition {
        let place = PlanLocation(file: "plan.plist", line: 1, column: 1)
        var property = PropertyDefinition(
            name: text,
            type: .array,
            isRequired: false,
            description: text,
            deprecated: text,
            location: place
        )
        property.items = PropertyDefinition(
            name: "",
            type: .string,
            description: text,
            enumeration: [.string(text)],
            pattern: text,
            examples: [.string(text)],
            location: place
        )
        return EventDefinition(
            key: text,
            description: text,
            owner: text,
            deprecated: text,
            trackers: [text],
            properties: [property],
            location: place
        )
    }
}
