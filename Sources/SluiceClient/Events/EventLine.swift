@_spi(CanonicalJSON) package import EventModel
import EventSchema
import PortDefinitions

/// An event as it is queued and sent: one line of JSON in Sluice's own format.
package enum EventLine {
    /// Encodes an event, with a newline at its end.
    ///
    /// - Throws: If the event does not follow the plan.
    package static func encode<Event: AnalyticsEvent>(
        _ event: Event,
        _ context: EventContext,
        id: EventID,
        time: Timestamp
    ) throws(InvalidEvent) -> [UInt8] {
        let definition = Event.catalog.definitions[Event.definitionIndex]
        var encoder = PayloadEncoder()
        encoder.output.append("{\"id\":")
        encoder.output.appendQuoted(id)
        encoder.output.append(",\"name\":")
        encoder.append(definition.name)
        encoder.output.append(",\"time\":")
        encoder.output.appendQuoted(time)
        encoder.encode(context)
        encoder.output.append(",\"payload\":")
        encoder.step = .key("payload")
        encoder.encode(event, definition.properties, isOpen: definition.allowsAdditionalProperties)
        encoder.step = .root
        encoder.output.append("}\n")
        if encoder.output.count > EventLimits.maximumBytes {
            encoder.report(.tooLarge, "at most \(EventLimits.maximumBytes) bytes")
        }
        guard encoder.violations.isEmpty else {
            throw InvalidEvent(name: definition.name, violations: encoder.violations)
        }
        return Array(encoder.output.bytes)
    }
}

extension PayloadEncoder {
    fileprivate mutating func encode(_ context: EventContext) {
        for (key, text) in [
            ("userId", context.userID), ("anonymousId", context.anonymousID), ("sessionId", context.sessionID),
        ] {
            guard let text else { continue }
            output.append(UInt8(ascii: ","))
            step = .key(key)
            append(key)
            output.append(UInt8(ascii: ":"))
            append(text)
            if text.utf8.count > IdentifierLimit.maximumBytes { report(.identifierTooLong, IdentifierLimit.expected) }
        }
        guard !context.attributes.isEmpty else { return }
        step = .key("context")
        output.append(",\"context\":")
        append(.object(context.attributes))
    }
}
