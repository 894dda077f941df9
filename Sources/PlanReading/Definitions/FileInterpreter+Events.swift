import EventSchema

extension FileInterpreter {
    private static let rootKeys = ["events", "version", "trackers", "postgresTrackers", "context", "propertyGroups"]
    private static let eventKeys = [
        "name", "swiftName", "description", "owner", "deprecated", "registeredTrackers", "include", "payload",
        "payloadKeys",
        "additionalProperties",
    ]

    mutating func file(_ root: PlistNode) -> PlanFile {
        let fields = fields(root, of: "a plan file", at: root.place, known: Self.rootKeys)
        var file = PlanFile(place: root.place)
        guard let fields else { return file }
        file.version = text(fields["version"])
        file.trackers = names(fields["trackers"], ignoringCase: true)
        file.postgresTrackers = names(fields["postgresTrackers"], ignoringCase: true) ?? []
        file.context = context(fields["context"])
        file.groups = groups(fields["propertyGroups"])
        file.events = events(fields["events"])
        file.sensitiveTrackers = sensitiveTrackers
        if Self.rootKeys.allSatisfy({ $0 == "version" || fields[$0] == nil }) {
            report(.missingKey, at: root.place, "a plan file needs 'events', a dictionary of event definitions")
        }
        return file
    }

    private mutating func events(_ entry: PlistEntry?) -> [EventDraft] {
        guard let entry, let entries = dictionary(entry.value, as: "'events'") else { return [] }
        return entries.compactMap { event($0) }
    }

    private mutating func event(_ entry: PlistEntry) -> EventDraft? {
        check(entry.key)
        let fields = fields(entry.value, of: "an event", at: entry.key.place, known: Self.eventKeys)
        guard let fields else { return nil }
        let name = text(fields["name"])
        if let name { check(name) }
        let trackers = trackers(fields)
        let definition = EventDefinition(
            key: entry.key.text,
            name: name?.text,
            description: text(fields["description"])?.text,
            swiftName: swiftName(fields["swiftName"]),
            owner: owner(fields["owner"]),
            deprecated: text(fields["deprecated"])?.text,
            trackers: trackers.map(\.text),
            properties: payload(fields),
            allowsAdditionalProperties: boolean(fields["additionalProperties"], default: false),
            location: entry.key.place.location
        )
        let includes = names(fields["include"], ignoringCase: false) ?? []
        return EventDraft(definition: definition, name: name ?? entry.key, trackers: trackers, includes: includes)
    }

    /// An empty owner would be a chapter without a title in the exported catalogue.
    private mutating func owner(_ entry: PlistEntry?) -> String? {
        guard let owner = text(entry) else { return nil }
        guard owner.text.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else {
            report(.badName, at: owner.place, "the owner is empty; name the team that is responsible for the event")
            return nil
        }
        return owner.text
    }

    private mutating func trackers(_ fields: Fields) -> [PlacedText] {
        let entry = fields["registeredTrackers"]
        let trackers = names(entry, ignoringCase: true)
        let isEmpty = entry.map { $0.value.value == .array([]) } ?? true
        if isEmpty {
            let place = entry?.value.place ?? fields.place
            report(.noTrackers, at: place, "the event has no trackers; list them in 'registeredTrackers'")
        }
        return trackers ?? []
    }

    private mutating func payload(_ fields: Fields) -> [PropertyDefinition] {
        if let old = fields["payloadKeys"], fields["payload"] != nil {
            let sentence = "an event has either 'payload' or JustTrack's 'payloadKeys', not both"
            report(.conflictingKeys, at: old.key.place, sentence)
        }
        if let payload = fields["payload"] {
            return properties(payload)
        }
        return fields["payloadKeys"].map { justTrackPayload($0) } ?? []
    }

    // MARK: Property groups

    private mutating func groups(_ entry: PlistEntry?) -> [PropertyGroup] {
        guard let entry, let entries = dictionary(entry.value, as: "'propertyGroups'") else { return [] }
        return entries.compactMap { group($0) }
    }

    /// A group consists of its properties; `include` with an array lists other groups, with any other value it is a property.
    private mutating func group(_ entry: PlistEntry) -> PropertyGroup? {
        check(entry.key)
        guard let entries = dictionary(entry.value, as: "a property group") else { return nil }
        var group = PropertyGroup(name: entry.key)
        for member in entries {
            if member.key.text == "include", case .array = member.value.value {
                group.includes = names(member, ignoringCase: false) ?? []
            } else if let property = property(member) {
                group.properties.append(property)
            }
        }
        return group
    }
}
