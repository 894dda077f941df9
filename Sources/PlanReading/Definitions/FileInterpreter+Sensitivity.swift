import EventSchema

extension FileInterpreter {
    /// Reads `context`, the keys of the envelope's context that the plan protects.
    mutating func context(_ entry: PlistEntry?) -> [ContextAttribute] {
        guard let entry, let entries = dictionary(entry.value, as: "'context'") else { return [] }
        return entries.compactMap { attribute($0) }
    }

    private mutating func attribute(_ entry: PlistEntry) -> ContextAttribute? {
        check(entry.key)
        let thing = "a key of 'context'"
        let fields = fields(entry.value, of: thing, at: entry.key.place, known: ["sensitive", "description"])
        guard let fields else { return nil }
        guard let sensitive = fields["sensitive"] else {
            report(.missingKey, at: entry.key.place, "\(thing) needs 'sensitive': 'drop', 'hash', or its trackers")
            return nil
        }
        return sensitivity(sensitive).map {
            ContextAttribute(
                name: entry.key.text,
                sensitivity: $0,
                description: text(fields["description"])?.text,
                location: entry.key.place.location
            )
        }
    }

    /// How a property is protected; `nil` if it is not.
    mutating func sensitivity(_ entry: PlistEntry?, of property: PropertyDefinition) -> Sensitivity? {
        guard let entry, let sensitivity = sensitivity(entry) else { return nil }
        if sensitivity == .hash, property.type != .string {
            let sentence = "only a string can be hashed; the type here is \(property.type.rawValue)"
            report(.misplacedKey, at: entry.value.place, sentence)
        }
        return sensitivity
    }

    private mutating func sensitivity(_ entry: PlistEntry) -> Sensitivity? {
        switch entry.value.value {
        case .string("drop"): return .drop
        case .string("hash"): return .hash
        case .string(let text):
            let nearest = Spelling.nearest(to: text, among: ["drop", "hash"])
            let all = "use 'drop', 'hash', or a dictionary with the array 'trackers'"
            let hint = nearest.map { "did you mean '\($0)'?" } ?? all
            report(.badSensitivity, at: entry.value.place, "unknown sensitivity \(quoted(text)); \(hint)")
            return nil
        case .dictionary:
            let fields = fields(entry.value, of: "'sensitive'", at: entry.key.place, known: ["trackers"])
            guard let names = names(fields?["trackers"], ignoringCase: true), !names.isEmpty else {
                let sentence = "'sensitive' has no trackers; list those that may see the value, or use 'drop'"
                report(.badSensitivity, at: entry.value.place, sentence)
                return nil
            }
            sensitiveTrackers += names
            return .trackers(names.map { $0.text.lowercased() }.sorted())
        default:
            reportKind(of: entry.value, "'sensitive'", expected: "'drop', 'hash', or a dictionary with 'trackers'")
            return nil
        }
    }
}
