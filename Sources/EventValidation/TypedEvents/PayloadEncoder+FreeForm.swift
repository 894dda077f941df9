@_spi(CanonicalJSON) import EventModel

extension PayloadEncoder {
    /// Encodes the user, the session and the attributes.
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
        guard text.utf8.count > IdentifierLimit.maximumBytes else { return }
        report(.identifierTooLong, expected: IdentifierLimit.expected, found: "more", location: nil)
    }

    /// Appends a value that the plan does not describe; it only must be JSON that every tracker can store.
    mutating func append(_ value: JSONValue) {
        for problem in output.append(value, depth: depth) { report(problem) }
    }

    /// Appends a string.
    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { appendText(UnsafeRawBufferPointer($0)) }
    }

    /// Appends a string, and reports a NUL character in it.
    @inline(__always)
    mutating func appendText(_ text: UnsafeRawBufferPointer) {
        let problems = output.appendUnpaddedString(text)
        if !problems.isEmpty { report(problems) }
    }

    /// Appends a key and its value.
    mutating func appendMember(_ key: String, _ value: JSONValue) {
        append(key)
        output.append(UInt8(ascii: ":"))
        append(value)
    }
}
