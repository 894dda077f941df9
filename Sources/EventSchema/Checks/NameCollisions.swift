/// Finds names that become one name under a rule.
enum NameCollisions {
    /// Reports the later of two names that meet, at its own place.
    ///
    /// - Parameters:
    ///   - thing: What has the name: `event`.
    ///   - result: What the rule makes of it: `table`.
    static func find(
        in names: [(text: String, location: SourceLocation)],
        code: DiagnosticCode,
        thing: String,
        result: String,
        rule: (String) -> String
    ) -> [Diagnostic] {
        var known: [String: (text: String, location: SourceLocation)] = [:]
        var diagnostics: [Diagnostic] = []
        for name in names {
            let becomes = rule(name.text)
            guard let first = known[becomes] else {
                known[becomes] = name
                continue
            }
            let sentence = """
                the \(thing) becomes the \(result) \(quoted(becomes)), as \(quoted(first.text)) at \(first.location) \
                does; rename one
                """
            diagnostics.append(Diagnostic(code, at: name.location, sentence))
        }
        return diagnostics
    }
}
