@_spi(CanonicalJSON) import EventModel
import EventSchema

// Not inlined, so that violations do not slow down valid events.
extension PayloadEncoder {
    /// Whether another violation can be listed; the first one always can.
    mutating func isDescribed(_ code: VerdictCode) -> Bool { violations.count < Rejection.maximumViolations }

    /// Records that the current value breaks a rule of its property.
    @inline(never)
    mutating func report(_ code: VerdictCode, of property: PropertyRules, expected: String, found: String) {
        let location = plan.definitions[property.pointee.index].location
        report(code, path: path(of: property), expected: expected, found: found, location: location)
    }

    /// Reports a number that JSON does not have.
    @inline(never)
    mutating func reportNotFinite() {
        report(.outOfRange, expected: "a finite number", found: "an infinite one, or NaN")
    }

    /// Reports a part of a value that the plan does not describe.
    @inline(never)
    mutating func report(_ problem: JSONValueProblem) {
        switch problem.kind {
        case .nul: report(TextProblems.nul)
        case .notFinite: reportNotFinite()
        case .tooDeep: reportDepth()
        }
    }

    /// Reports a value for which the plan has no property.
    @inline(never)
    mutating func reportSurplus() {
        report(.unplannedProperty, expected: "no more properties", found: "another")
    }

    /// Reports an additional property that the plan declares.
    @inline(never)
    mutating func reportPlanned() {
        report(.malformedJSON, expected: "each key once", found: "a declared property among the additional ones")
    }

    /// Records a violation at the current place.
    mutating func report(_ code: VerdictCode, expected: String, found: String, location: PlanLocation?) {
        report(code, path: nil, expected: expected, found: found, location: location)
    }

    private mutating func report(
        _ code: VerdictCode,
        path: String? = nil,
        expected: String,
        found: String,
        location: PlanLocation? = nil
    ) {
        guard isDescribed(code) else { return }
        let current = current
        violations.append(
            Violation(
                code: code,
                path: path ?? self.path(of: current),
                expected: expected,
                found: found,
                location: location ?? current.map { plan.definitions[$0.pointee.index].location }
            )
        )
    }

    /// The property whose value is being encoded.
    private var current: PropertyRules? {
        if additionalKey != nil { return nil }
        if isElement { return next }
        guard object >= 0 else { return nil }
        let first = plan.tables.properties + plan.tables.objects[object].firstProperty
        return next > first ? next - 1 : nil
    }

    /// A JSONPath (RFC 9535) from the envelope.
    private func path(of property: PropertyRules?) -> String {
        var path = "$.\(field)"
        for place in places {
            path += step(to: place.property)
            if place.element >= 0 { path += "[\(place.element)]" }
        }
        if let additionalKey { return path + JSONPath.step(toKey: additionalKey) }
        guard let property, !isElement else { return path }
        return path + step(to: property)
    }

    private func step(to property: PropertyRules) -> String {
        let name = plan.definitions[property.pointee.index].name
        return name.isEmpty ? "" : JSONPath.step(toKey: name)
    }
}
