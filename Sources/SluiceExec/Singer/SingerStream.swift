import EventModel
package import EventSchema
package import TrackerKit

/// An event as a stream of a Singer target, which most targets make a table of.
package struct SingerStream {
    /// The stream's name.
    package let name: String
    /// The message that announces the stream, with its line feed.
    package let announcement: [UInt8]
    /// The decimals to send as numbers; `nil` if there are none.
    let decimals: DecimalPlaces?
    /// The beginning of the message with an event, up to the event.
    let recordHead: [UInt8]

    package init(_ event: EventDefinition, decimals: SingerDecimals) {
        name = Self.name(of: event.name)
        let schema = RecordSchema.schema(of: event, decimals: decimals)
        let message: OrderedJSON = [
            "type": "SCHEMA", "stream": .string(name), "schema": schema, "key_properties": ["id"],
        ]
        announcement = Array("\(message.line)\n".utf8)
        self.decimals = decimals == .numbers ? DecimalPlaces(of: event) : nil
        recordHead = Array(#"{"type":"RECORD","stream":\#(JSONString.quoted(name)),"record":"#.utf8)
    }

    /// The name that the stream of an event has: the one that its table would have in PostgreSQL.
    ///
    /// Targets use it for tables and files and change it in ways of their own; some take a `-` for the end of a schema's name. This one,
    /// of letters, digits and underscores, they leave as it is.
    package static func name(of event: String) -> String { SQLName.snakeCase(event) }

    /// Checks that no two events have the same stream.
    ///
    /// - Throws: `invalidSettings`.
    package static func checkNames(of events: [EventDefinition]) throws(TrackerError) {
        var eventByStream: [String: String] = [:]
        for event in events {
            let stream = name(of: event.name)
            if let other = eventByStream.updateValue(event.name, forKey: stream) {
                throw ExecErrors.invalidSettings(
                    "The events '\(other)' and '\(event.name)' have the same stream '\(stream)'; rename one, or give it another tracker."
                )
            }
        }
    }
}
