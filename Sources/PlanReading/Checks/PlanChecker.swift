import EventSchema

/// The third stage: joins all files to the plan, and reports problems between them.
enum PlanChecker {
    /// Joins the files, in their order, and checks the plan.
    ///
    /// If a file could not be read, unknown names are not reported, because that file may declare them.
    static func check(_ files: [PlanFile], isComplete: Bool) -> (plan: TrackingPlan, diagnostics: [Diagnostic]) {
        let drafts = files.flatMap(\.events)
        let (groups, groupDiagnostics) = PropertyGroups.gather(files)
        let expansions = drafts.map { groups.expand($0) }
        let postgresTrackers = Set(files.flatMap(\.postgresTrackers).map { $0.text.lowercased() })
        let events = expansions.map(\.event).map { event in
            var event = event
            event.definition.notePostgresTrackers(postgresTrackers)
            return event
        }
        let context = context(of: files)
        let diagnostics =
            versions(files.compactMap(\.version))
            + groupDiagnostics
            + (isComplete ? groups.checkNames(includedBy: drafts) + TrackerCheck.checkNames(files) : [])
            + groups.cycles()
            + expansions.flatMap(\.diagnostics)
            + TrackerCheck.checkCount(files)
            + context.diagnostics
            + EventNameCheck.check(events)
            + events.flatMap { PropertyCheck.check($0.definition) }
        let plan = TrackingPlan(
            version: files.lazy.compactMap(\.version).first?.text,
            context: context.attributes,
            events: events.map(\.definition)
        )
        return (plan, diagnostics)
    }

    /// The protected keys of the context; of two with the same name, the first is used and the second is reported.
    private static func context(
        of files: [PlanFile]
    ) -> (attributes: [ContextAttribute], diagnostics: [Diagnostic]) {
        var attributes: [ContextAttribute] = []
        var diagnostics: [Diagnostic] = []
        var known: [String: PlanLocation] = [:]
        for attribute in files.flatMap(\.context) {
            if let first = known[attribute.name] {
                let sentence = "the context's key \(quoted(attribute.name)) is already defined at \(first); remove one"
                diagnostics.append(Diagnostic(.duplicateContextKey, at: attribute.location, sentence))
            } else {
                known[attribute.name] = attribute.location
                attributes.append(attribute)
            }
        }
        return (attributes, diagnostics)
    }

    private static func versions(_ versions: [PlacedText]) -> [Diagnostic] {
        guard let first = versions.first else { return [] }
        return versions.filter { $0.text != first.text }.map { version in
            let sentence = """
                the version is \(quoted(version.text)) here and \(quoted(first.text)) at \(first.place.location); \
                the first one counts
                """
            return Diagnostic(.conflictingVersions, at: version.place, sentence)
        }
    }
}
