import EventModel
import JSONTape

extension PayloadEncoder {
    /// Encodes who did it, and around what.
    @inline(__always)
    mutating func encode(_ context: borrowing EventContext) {
        let keys = plan.tables.keys
        if let userID = context.userID { encode(userID, field: "userId", key: keys.userID) }
        if let anonymousID = context.anonymousID { encode(anonymousID, field: "anonymousId", key: keys.anonymousID) }
        if let sessionID = context.sessionID { encode(sessionID, field: "sessionId", key: keys.sessionID) }
        guard !context.attributes.isEmpty else { return }
        field = "context"
        output.appendPadded(keys.context.bytes)
        append(.object(context.attributes))
    }

    private mutating func encode(_ text: String, field: StaticString, key: ByteTable.Name) {
        self.field = field
        output.appendPadded(key.bytes)
        append(text)
    }
}
