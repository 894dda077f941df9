import EventSchema

/// The property groups of all files, which events reference with `include`.
struct PropertyGroups {
    private var groups: [PropertyGroup] = []
    private var indexes: [String: Int] = [:]

    /// Gathers the groups of all files; of two with the same name, the first is used and the second is reported.
    static func gather(_ files: [PlanFile]) -> (groups: PropertyGroups, diagnostics: [Diagnostic]) {
        var gathered = PropertyGroups()
        var diagnostics: [Diagnostic] = []
        for group in files.flatMap(\.groups) {
            if let first = gathered[group.name.text] {
                let (name, location) = (group.name.text, first.name.place.location)
                let sentence = "the property group \(quoted(name)) is already defined at \(location); rename one"
                diagnostics.append(Diagnostic(.duplicatePropertyGroup, at: group.name.place, sentence))
            } else {
                gathered.indexes[group.name.text] = gathered.groups.count
                gathered.groups.append(group)
            }
        }
        return (gathered, diagnostics)
    }

    private subscript(name: String) -> PropertyGroup? {
        indexes[name].map { groups[$0] }
    }

    // MARK: Expanding events

    /// The event with the properties of its groups after its own, in the order in which the groups are included.
    func expand(_ event: EventDraft) -> (event: EventDraft, diagnostics: [Diagnostic]) {
        var event = event
        var diagnostics: [Diagnostic] = []
        var origins = Dictionary(event.definition.properties.map { ($0.name, "in the payload") }) { first, _ in first }
        for include in event.includes {
            for group in reachable(from: include.text) {
                for property in group.properties {
                    // A group that two others include is taken in once.
                    let origin = "in the group \(quoted(group.name.text))"
                    let first = origins.updateValue(origin, forKey: property.name)
                    guard let first else {
                        event.definition.properties.append(property)
                        continue
                    }
                    origins[property.name] = first
                    guard first != origin else { continue }
                    let name = quoted(property.name)
                    let sentence = "the property \(name) is defined twice, \(origin) and \(first); remove one of them"
                    diagnostics.append(Diagnostic(.duplicateProperty, at: include.place, sentence))
                }
            }
        }
        return (event, diagnostics)
    }

    /// A group and the groups that it includes, each once, in the order in which they are included.
    private func reachable(from name: String) -> [PropertyGroup] {
        var result: [PropertyGroup] = []
        var known: Set<String> = []
        var pending = [name]
        while let next = pending.popLast() {
            guard known.insert(next).inserted, let group = self[next] else { continue }
            result.append(group)
            pending += group.includes.reversed().map(\.text)
        }
        return result
    }

    // MARK: Checks

    /// Reports names of unknown groups, and groups that are never included.
    func checkNames(includedBy events: [EventDraft]) -> [Diagnostic] {
        let includes = events.flatMap(\.includes) + groups.flatMap(\.includes)
        let unknown = includes.filter { self[$0.text] == nil }.map { include in
            let names = groups.map(\.name.text)
            let hint =
                names.isEmpty
                ? "the plan has none" : Spelling.hint(for: include.text, among: names, listedAs: "the plan has")
            return Diagnostic(
                .unknownPropertyGroup,
                at: include.place,
                "unknown property group \(quoted(include.text)); \(hint)"
            )
        }
        let included = Set(includes.map(\.text))
        let unused = groups.filter { !included.contains($0.name.text) }.map {
            Diagnostic(
                .unusedPropertyGroup,
                at: $0.name.place,
                "the property group \(quoted($0.name.text)) is never included; include it, or remove it"
            )
        }
        return unknown + unused
    }

    /// Reports each `include` that closes a cycle, by a depth-first search without recursion.
    func cycles() -> [Diagnostic] {
        var diagnostics: [Diagnostic] = []
        var finished: Set<String> = []
        for start in groups where !finished.contains(start.name.text) {
            var path: [(group: PropertyGroup, next: Int)] = [(start, 0)]
            var onPath: Set<String> = [start.name.text]
            while let (group, next) = path.last {
                guard next < group.includes.count else {
                    finished.insert(group.name.text)
                    onPath.remove(group.name.text)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let include = group.includes[next]
                if onPath.contains(include.text) {
                    let names = path.map(\.group.name.text).drop { $0 != include.text } + [include.text]
                    let cycle = names.map(quoted).joined(separator: " → ")
                    diagnostics.append(
                        Diagnostic(
                            .propertyGroupCycle,
                            at: include.place,
                            "property groups include each other: \(cycle); remove one 'include'"
                        )
                    )
                } else if !finished.contains(include.text), let included = self[include.text] {
                    onPath.insert(include.text)
                    path.append((included, 0))
                }
            }
        }
        return diagnostics
    }
}
