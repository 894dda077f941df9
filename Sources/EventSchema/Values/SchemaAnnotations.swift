extension OrderedJSON {
    /// The annotations `description` and `deprecated` of a JSON Schema.
    package static func annotations(_ description: String?, deprecated: String?) -> [(key: String, value: OrderedJSON)]
    {
        let sentences = [description, deprecated.map { "Deprecated: \($0)" }].compactMap(\.self)
        var members: [(key: String, value: OrderedJSON)] = []
        if !sentences.isEmpty { members.append(("description", .string(sentences.joined(separator: "\n\n")))) }
        if deprecated != nil { members.append(("deprecated", .boolean(true))) }
        return members
    }
}
