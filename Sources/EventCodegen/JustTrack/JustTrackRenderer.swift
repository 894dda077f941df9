import EventSchema

/// Writes the same classes as JustTrack's generator, in which an empty string means that a value is absent.
struct JustTrackRenderer {
    let access: String

    func file(_ events: [JustTrackEvent]) -> [String] {
        let imports = ["import Foundation", "\(access)import JustTrack"]
        return ([imports] + events.map(render)).joined(separator: [""]).map(\.self)
    }

    private func render(_ event: JustTrackEvent) -> [String] {
        var parts: [[String]] = [["\(access)let name: String = \(SwiftText.literal(event.definition.name))"]]
        parts += event.objects.map(object)
        parts.append(payload(event))
        let trackers = SwiftText.literal(event.definition.trackers)
        parts.append(SwiftText.block("\(access)var registeredTrackers: [String]", [trackers]))
        let keys = event.texts + event.objects
        parts.append(keys.map { "private let \(JustTrackName.constant($0.name)) = \(SwiftText.literal($0.name))" })
        parts.append(properties(event))
        parts.append(initializer(of: keys.map { (JustTrackName.member($0.name), type(of: $0)) }))
        let body = parts.filter { !$0.isEmpty }.joined(separator: [""]).map(\.self)
        let documentation = SwiftText.documentation([event.definition.description])
        return documentation + SwiftText.block("\(access)class \(event.className): Event", body)
    }

    private func payload(_ event: JustTrackEvent) -> [String] {
        let texts = event.texts.map { property in
            let name = JustTrackName.member(property.name)
            return "\(JustTrackName.constant(property.name)): \(name) == \"\" ? NSNull() : \(name) as String,"
        }
        let objects = event.objects.map { property in
            let name = JustTrackName.member(property.name)
            return "\(JustTrackName.constant(property.name)): \(name) == [] ? NSNull() : \(name).map { $0.asDict },"
        }
        let members = texts + objects
        let dictionary = members.isEmpty ? ["[:]"] : ["["] + SwiftText.indented(members) + ["]"]
        return SwiftText.block("\(access)var payload: Payload", dictionary)
    }

    private func properties(_ event: JustTrackEvent) -> [String] {
        let texts = event.texts.flatMap { property in
            SwiftText.documentation([property.description]) + [
                "\(access)var \(JustTrackName.member(property.name)) = \"\""
            ]
        }
        let objects = event.objects.flatMap { property in
            SwiftText.documentation([property.description])
                + ["\(access)var \(JustTrackName.member(property.name)): \(type(of: property))"]
        }
        return texts + objects
    }

    private func type(of property: PropertyDefinition) -> String {
        if property.type == .array { return "[\(JustTrackName.object(property.name))]" }
        return JustTrackEvent.literal(for: property.type)?.type ?? "String"
    }

    private func initializer(of members: [(name: String, type: String)]) -> [String] {
        let parameters = members.map { "\($0.name): \($0.type)" }
        let assignments = members.map { "self.\(SwiftName.afterDot($0.name)) = \($0.name)" }
        return SwiftText.block("\(access)init(\(parameters.joined(separator: ", ")))", assignments)
    }

    private func object(_ property: PropertyDefinition) -> [String] {
        let members = property.items?.properties ?? []
        let names = members.map { JustTrackName.objectMember($0.name) }
        let variables = zip(names, members).map { name, member in
            let value = JustTrackEvent.literal(for: member.type)?.value ?? "\"\""
            return "\(access)var \(name) = \(value)"
        }
        let entries = zip(names, members).map { "\(SwiftText.literal($1.name)): \($0)," }
        let dictionary = entries.isEmpty ? ["[:]"] : ["["] + SwiftText.indented(entries) + ["]"]
        let parts = [
            variables, initializer(of: zip(names, members).map { ($0, type(of: $1)) }),
            SwiftText.block("var asDict: [String: Any]", dictionary),
        ]
        let body = parts.filter { !$0.isEmpty }.joined(separator: [""]).map(\.self)
        return SwiftText.block("\(access)struct \(JustTrackName.object(property.name)): Equatable, Codable", body)
    }
}
