import EventSchema
import JSONTape
import PatternMatching

// Never inlined: what is wrong must not make what is right slower.
extension PayloadEncoder {
    /// Notes that the next value breaks a rule of its property.
    @inline(never)
    mutating func report(_ code: VerdictCode, of property: PropertyRules, expected: String, found: String) {
        let location = plan.definitions[property.pointee.index].location
        report(code, path: path(of: property), expected: expected, found: found, location: location)
    }

    /// Notes that a number is below the minimum or above the maximum.
    @inline(never)
    mutating func reportRange(of property: PropertyRules) {
        report(.outOfRange, of: property, expected: plan.rangeRule(of: property), found: "a value out of range")
    }

    /// Notes that a text does not match.
    @inline(never)
    mutating func reportPattern(of property: PropertyRules) {
        let source = plan.patterns[property.pointee.pattern].source
        report(.patternMismatch, of: property, expected: "a match of \(source)", found: "another string")
    }

    /// Notes a NUL character in the text that was just encoded.
    @inline(never)
    mutating func reportNUL() {
        report(.malformedJSON, expected: "text without NUL characters", found: "a string with one")
    }

    /// Notes a number that JSON does not have.
    @inline(never)
    mutating func reportNotFinite() {
        report(.outOfRange, expected: "a finite number", found: "an infinite one, or NaN")
    }

    /// Notes nesting that no tracker has to follow.
    @inline(never)
    mutating func reportDepth() {
        report(.tooDeep, expected: "at most \(EventCheck.maximumDepth) levels of nesting", found: "more")
    }

    /// Notes a value for which the plan has no property.
    @inline(never)
    mutating func reportSurplus() {
        report(.unplannedProperty, expected: "no more properties", found: "another")
    }

    /// Notes an additional property that the plan does name.
    @inline(never)
    mutating func reportPlanned() {
        report(.malformedJSON, expected: "each key once", found: "a planned property among the additional ones")
    }

    private mutating func report(
        _ code: VerdictCode,
        path: String? = nil,
        expected: String,
        found: String,
        location: PlanLocation? = nil
    ) {
        guard violations.count < Rejection.maximumViolations else { return }
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
        if let additionalKey { return path + ViolationPath.text(ofKey: additionalKey) }
        guard let property, !isElement else { return path }
        return path + step(to: property)
    }

    private func step(to property: PropertyRules) -> String {
        let name = plan.definitions[property.pointee.index].name
        return name.isEmpty ? "" : ViolationPath.text(ofKey: name)
    }
}
