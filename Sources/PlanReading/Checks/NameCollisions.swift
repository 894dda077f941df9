import EventSchema

/// Finds names that become one name under a rule.
enum NameCollisions {
    /// Reports the later of two names that meet, at its own place.
    ///
    /// - Parameters:
    ///   - names: What stands in the plan, what it becomes, and where it stands.
    ///   - thing: What has the name: `event`.
    ///   - result: What it becomes: `table`.
    static func find(
        in names: [(text: String, becomes: String, location: PlanLocation)],
        code: DiagnosticCode,
        thing: String,
        result: String
    ) -> [Diagnostic] {
        var known: [String: (text: String, becomes: String, location: PlanLocation)] = [:]
        var diagnostics: [Diagnostic] = []
        for name in names {
            guard let first = known[name.becomes] else {
                known[name.becomes] = name
                continue
            }
            let sentence = """
                the \(thing) becomes the \(result) \(quoted(name.becomes)), as \(quoted(first.text)) at \(first.location) \
                does; rename one\(code == .swiftNameCollision ? ", or give it a 'swiftName'" : "")
                """
            diagnostics.append(Diagnostic(code, at: name.location, sentence))
        }
        return diagnostics
    }
}
