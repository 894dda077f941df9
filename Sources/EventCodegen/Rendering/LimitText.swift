import EventSchema

/// Says in a sentence what a type cannot: the limits that are checked when an event is tracked.
enum LimitText {
    /// One sentence, or nothing where there are no limits.
    static func sentence(for property: PropertyDefinition) -> String? {
        var limits: [String] = []
        if let minimum = property.minimum { limits.append("at least \(minimum.text)") }
        if let maximum = property.maximum { limits.append("at most \(maximum.text)") }
        if let length = property.minLength { limits.append("at least \(characters(length))") }
        if let length = property.maxLength { limits.append("at most \(characters(length))") }
        if let pattern = property.pattern { limits.append("matches `\(pattern)`") }
        guard let first = limits.first else { return nil }
        return first.prefix(1).uppercased() + first.dropFirst() + limits.dropFirst().map { ", " + $0 }.joined() + "."
    }

    private static func characters(_ count: Int) -> String { "\(count) character\(count == 1 ? "" : "s")" }
}
