import EventSchema

/// Reads the names that the plan states for generated Swift.
extension FileInterpreter {
    mutating func swiftName(_ entry: PlistEntry?) -> String? {
        guard let name = text(entry) else { return nil }
        guard SwiftName.isIdentifier(name.text) else {
            report(.badName, at: name.place, "\(quoted(name.text)) is not a valid Swift identifier")
            return nil
        }
        guard !SwiftName.isReserved(name.text) else {
            report(.badName, at: name.place, "\(quoted(name.text)) is reserved in generated Swift; choose another name")
            return nil
        }
        return name.text
    }

    /// The names of an enum's cases, by the text of each value.
    mutating func swiftCases(_ fields: Fields, of property: PropertyDefinition) -> [String: String] {
        guard let entry = fields["swiftCases"] else { return [:] }
        guard fields["enum"] != nil else {
            report(.misplacedKey, at: entry.key.place, "'swiftCases' needs an 'enum'")
            return [:]
        }
        // Problems of the enum itself have been reported.
        guard let texts = property.enumeration?.map(\.text) else { return [:] }
        guard let entries = dictionary(entry.value, as: "'swiftCases'") else { return [:] }
        var cases: [String: String] = [:]
        for member in entries {
            guard texts.contains(member.key.text) else {
                let hint = Spelling.hint(for: member.key.text, among: texts, listedAs: "its values are")
                report(.unknownKey, at: member.key.place, "'enum' has no value \(quoted(member.key.text)); \(hint)")
                continue
            }
            guard let name = swiftName(member) else { continue }
            if SwiftName.isTakenCase(name) {
                report(
                    .badName,
                    at: member.value.place,
                    "\(quoted(name)) is reserved in generated Swift; choose another name"
                )
            } else {
                cases[member.key.text] = name
            }
        }
        return cases
    }
}
