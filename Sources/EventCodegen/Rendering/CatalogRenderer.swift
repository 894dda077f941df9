import EventSchema

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes the catalog, which contains the plan as JSON, because a large plan as Swift expressions takes minutes to compile.
struct CatalogRenderer {
    let plan: TrackingPlan
    let namespace: String
    let access: String
    let names: TypeNames

    func render() -> [String] {
        let count = plan.events.count == 1 ? "The plan's event" : "The plan's \(plan.events.count) events"
        let catalog =
            SwiftText.documentation([count + ", so that no plan is read at run time."])
            + ["\(access)static let catalog = \(names.sluice("EventCatalog"))("]
            + ["    generated: #\"\"\""] + SwiftText.indented(SwiftText.indented(json)) + ["        \"\"\"#", ")"]
        return SwiftText.documentation(["The events of the tracking plan, and its catalog."])
            + SwiftText.block("\(access)enum \(namespace)", catalog)
    }

    /// The plan with a line for each event.
    private var json: [String] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        func text(_ value: some Encodable) -> String {
            do {
                return Self.escaped(String(decoding: try encoder.encode(value), as: UTF8.self))
            } catch {
                preconditionFailure("a plan that was read from a plist has no value that JSON lacks: \(error)")
            }
        }
        let version = plan.version.map { "\"version\":\(text($0))," } ?? ""
        let context = plan.context.isEmpty ? "" : "\"context\":\(text(plan.context)),"
        let events = plan.events.enumerated().map { text($1) + ($0 == plan.events.count - 1 ? "" : ",") }
        return ["{\(version)\(context)\"events\":["] + events + ["]}"]
    }

    /// Escapes what would end the literal or begin an escape in it, and invisible characters.
    private static func escaped(_ json: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            let isEscape = scalar == "#" && result.last == "\\"
            guard isEscape || SwiftText.isInvisible(scalar) else {
                result.append(scalar)
                continue
            }
            for unit in UTF16.encode(scalar).map(Array.init) ?? [] {
                let digits = String(unit, radix: 16)
                result.append(
                    contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars
                )
            }
        }
        return String(result)
    }
}
