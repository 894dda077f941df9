import EventSchema
package import EventValidation
package import TrackerKit

/// The setting `topic`, a pattern for the topics' names.
package struct TopicName {
    package static let placeholder = "{event}"
    static let maximumBytes = 249

    let pattern: String

    /// Creates it from the setting; the names are validated with the events.
    package init(pattern: String) {
        self.pattern = pattern
    }

    /// Whether events of different names may have different topics.
    package var dependsOnEvent: Bool { pattern.contains(Self.placeholder) }

    /// The topic of an event.
    ///
    /// - Throws: `invalidSettings` if Kafka does not allow the name.
    package func topic(forEvent name: String) throws(TrackerError) -> String {
        let parts = pattern.split(separator: Self.placeholder, omittingEmptySubsequences: false)
        let topic = parts.joined(separator: Self.spelling(of: name))
        guard !topic.isEmpty, topic != ".", topic != "..", topic.utf8.count <= Self.maximumBytes else {
            throw .invalidSettings(
                "'\(topic)' is not a valid topic name: it must have 1 to \(Self.maximumBytes) characters."
            )
        }
        guard topic.utf8.allSatisfy(Self.isAllowed) else {
            throw .invalidSettings(
                "'\(topic)' is not a valid topic name: use letters, digits, '.', '_' and '-' of ASCII, and \(Self.placeholder)."
            )
        }
        return topic
    }

    /// The topics of a tracker's events, sorted and without duplicates.
    ///
    /// - Throws: `invalidSettings` if Kafka does not allow one of the names.
    package func topics(of catalog: EventCatalog, tracker: String) throws(TrackerError) -> [String] {
        let mask = catalog.mask(ofTracker: tracker)
        var found: Set<String> = []
        for (event, trackers) in zip(catalog.definitions, catalog.trackerMasks) where trackers & mask != 0 {
            found.insert(try topic(forEvent: event.name))
        }
        return found.sorted()
    }

    /// The event's name in snake case, with non-ASCII characters replaced by their code points.
    private static func spelling(of name: String) -> String {
        var result = ""
        for scalar in SQLName.snakeCase(name).unicodeScalars {
            result += scalar.isASCII ? String(scalar) : "-u" + String(scalar.value, radix: 16)
        }
        return result
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
