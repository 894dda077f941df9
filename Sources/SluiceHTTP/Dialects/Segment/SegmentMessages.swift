@_spi(CanonicalJSON) import EventModel
import JSONTape

/// The kinds of messages, which are also the names of their events, except for `track`.
///
/// Source: https://segment.com/docs/connections/spec/.
enum SegmentKind: String {
    case track, identify, page, screen, group, alias
}

/// The messages of Segment's HTTP Tracking API, which RudderStack's clients send, too.
///
/// Sources: https://segment.com/docs/connections/sources/catalog/libraries/server/http-api/ and
/// https://segment.com/docs/connections/spec/common/.
struct SegmentMessages: MessageFormat {
    /// The members of a message that are translated; a member that is `null` counts as absent.
    private struct Members {
        var type: JSONStructure.Value?
        var event: JSONStructure.Value?
        var messageID: JSONStructure.Value?
        var timestamp: JSONStructure.Value?
        var originalTimestamp: JSONStructure.Value?
        var sentAt: JSONStructure.Value?
        var userID: JSONStructure.Value?
        var anonymousID: JSONStructure.Value?
        var sessionID: JSONStructure.Value?
        var context: JSONStructure.Value?
        var isContextObject = false
        var hasContextMembers = false
        /// Whether the context has a member of the name that the time gets as the client wrote it.
        var hasOriginalTime = false
        var properties: JSONStructure.Value?
        var traits: JSONStructure.Value?
        var contextTraits: JSONStructure.Value?
        var groupID: JSONStructure.Value?
        var previousID: JSONStructure.Value?
        var name: JSONStructure.Value?
        var category: JSONStructure.Value?
        var writeKey: JSONStructure.Value?
    }

    /// The kind of the message; `nil` in a batch, where each message has its own.
    private let kind: SegmentKind?
    private var clock: ClientClock
    private(set) var key: [UInt8]?

    init(kind: SegmentKind?, _ arrival: BodyArrival) {
        self.kind = kind
        clock = ClientClock(arrival, accepting: .segment)
    }

    var shape: MessageBodyShape { kind == nil ? .batch : .any }

    mutating func note(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        if key.equals("sentAt") { clock.noteSentAt(value) }
        if key.equals("writeKey"), self.key == nil { self.key = JSONText.text(of: value) }
    }

    mutating func append(
        _ message: JSONStructure.Value,
        of structure: JSONStructure,
        to output: inout ByteBuilder
    ) -> Bool {
        guard let members = Self.members(of: message, in: structure) else { return false }
        let start = output.count
        func bytes(_ value: JSONStructure.Value) -> UnsafeRawBufferPointer { structure.bytes(of: value) }
        if key == nil, let writeKey = members.writeKey { key = JSONText.text(of: bytes(writeKey)) }
        let stated = members.type.map { JSONText.contents(of: bytes($0)) }
        let kind = kind ?? stated.flatMap { SegmentKind(rawValue: String(decoding: $0, as: UTF8.self)) }
        if kind == .track {
            if let event = members.event { output.append(#","name":"#, bytes(event)) }
        } else if let kind {
            output.append(#","name":""#)
            output.append(Array(kind.rawValue.utf8))
            output.append(UInt8(ascii: "\""))
        } else if let type = members.type {
            // The check rejects it as an unknown event.
            output.append(#","name":"#, bytes(type))
        }
        if let id = members.messageID { output.appendMessageID(bytes(id)) }
        var original: UnsafeRawBufferPointer?
        if let time = members.originalTimestamp ?? members.timestamp {
            var clock = clock
            if let sentAt = members.sentAt { clock.noteSentAt(bytes(sentAt)) }
            if clock.append(bytes(time), to: &output) { original = bytes(time) }
        }
        if let user = members.userID { output.appendIdentifier(#","userId":"#, bytes(user)) }
        if let device = members.anonymousID { output.appendIdentifier(#","anonymousId":"#, bytes(device)) }
        if let session = members.sessionID { output.appendIdentifier(#","sessionId":"#, bytes(session)) }
        let isPayload = (kind == .identify || kind == .group) && members.traits == nil
        appendContext(of: members, withoutTraits: isPayload, originalTime: original, in: structure, to: &output)
        switch kind {
        case .track, nil: appendPayload(members.properties, of: structure, to: &output)
        case .identify: appendPayload(members.traits ?? members.contextTraits, of: structure, to: &output)
        case .page, .screen:
            let others = [("name" as StaticString, members.name), ("category", members.category)]
            appendPayload(members.properties, and: others, of: structure, to: &output)
        case .group:
            appendPayload(
                members.traits ?? members.contextTraits,
                and: [("groupId", members.groupID)],
                of: structure,
                to: &output
            )
        case .alias:
            appendPayload(nil, and: [("previousId", members.previousID)], of: structure, to: &output)
        }
        output.closeObject(from: start)
        return true
    }

    private static func members(of message: JSONStructure.Value, in structure: JSONStructure) -> Members? {
        var members = Members()
        let isObject = structure.forEachPresentMember(of: message) { key, value in
            note(key, value, in: &members)
        }
        guard isObject else { return nil }
        guard let context = members.context else { return members }
        let isContextObject = structure.forEachMember(of: context) { key, value in
            members.hasContextMembers = true
            if key.equals(ClientClock.originalMember) { members.hasOriginalTime = true }
            guard !structure.bytes(of: value).equals("null") else { return }
            if key.equals("traits") { members.contextTraits = value }
            // RudderStack's clients have it there.
            if key.equals("sessionId") { members.sessionID = value }
        }
        members.isContextObject = isContextObject || structure.isEmptyArray(context)
        return members
    }

    // The length of the key distinguishes nearly all members, so few keys are compared.
    private static func note(_ key: UnsafeRawBufferPointer, _ value: JSONStructure.Value, in members: inout Members) {
        switch key.count {
        case 4 where key.equals("type"): members.type = value
        case 4 where key.equals("name"): members.name = value
        case 5 where key.equals("event"): members.event = value
        case 6 where key.equals("userId"): members.userID = value
        case 6 where key.equals("sentAt"): members.sentAt = value
        case 6 where key.equals("traits"): members.traits = value
        case 7 where key.equals("context"): members.context = value
        case 7 where key.equals("groupId"): members.groupID = value
        case 8 where key.equals("category"): members.category = value
        case 8 where key.equals("writeKey"): members.writeKey = value
        case 9 where key.equals("messageId"): members.messageID = value
        case 9 where key.equals("timestamp"): members.timestamp = value
        case 10 where key.equals("properties"): members.properties = value
        case 10 where key.equals("previousId"): members.previousID = value
        case 11 where key.equals("anonymousId"): members.anonymousID = value
        case 17 where key.equals("originalTimestamp"): members.originalTimestamp = value
        default: break
        }
    }

    /// Appends the context, with the time as the client wrote it if the event has another one.
    ///
    /// With `withoutTraits`, the context's traits are the payload and are left out: what the plan protects there must not stay
    /// here.
    private func appendContext(
        of members: Members,
        withoutTraits: Bool,
        originalTime: UnsafeRawBufferPointer?,
        in structure: JSONStructure,
        to output: inout ByteBuilder
    ) {
        let originalTime = members.hasOriginalTime ? nil : originalTime
        guard members.context != nil || originalTime != nil else { return }
        output.append(#","context":"#)
        let start = output.count
        if let context = members.context {
            let bytes = structure.bytes(of: context)
            // The check says what is wrong with it.
            guard members.isContextObject else { return output.append(structure.objectBytes(of: context)) }
            if withoutTraits, members.contextTraits != nil {
                _ = structure.forEachMember(of: context) { key, value in
                    guard !key.equals("traits") else { return }
                    output.append(#",""#)
                    output.append(key)
                    output.append(#"":"#, structure.bytes(of: value))
                }
            } else if members.hasContextMembers {
                output.append(UInt8(ascii: ","))
                output.append(UnsafeRawBufferPointer(rebasing: bytes.dropFirst().dropLast()))
            }
        }
        if let originalTime { output.appendMember(ClientClock.originalMember, originalTime) }
        output.closeObject(from: start)
    }

    // MARK: Payloads

    /// Appends an object as the payload, if there is one.
    private func appendPayload(
        _ object: JSONStructure.Value?,
        of structure: JSONStructure,
        to output: inout ByteBuilder
    ) {
        if let object { output.append(#","payload":"#, structure.objectBytes(of: object)) }
    }

    /// Appends a payload of an object's members, and of others that the object does not have.
    private func appendPayload(
        _ object: JSONStructure.Value?,
        and others: [(key: StaticString, value: JSONStructure.Value?)],
        of structure: JSONStructure,
        to output: inout ByteBuilder
    ) {
        output.append(#","payload":"#)
        let start = output.count
        var keys: [UnsafeRawBufferPointer] = []
        if let object {
            let bytes = structure.objectBytes(of: object)
            // The check says what is wrong with it.
            guard
                structure.isEmptyArray(object) || structure.forEachMember(of: object, { key, _ in keys.append(key) })
            else {
                return output.append(bytes)
            }
            if !keys.isEmpty {
                output.append(UInt8(ascii: ","))
                output.append(UnsafeRawBufferPointer(rebasing: bytes.dropFirst().dropLast()))
            }
        }
        for (key, value) in others {
            guard let value, !keys.contains(where: { $0.equals(key) }) else { continue }
            output.append(#",""#)
            output.append(key)
            // Segment's Python SDK sends the id of a group, or a former id, as it was given, and that may be a number.
            output.appendText(#"":"#, structure.bytes(of: value))
        }
        output.closeObject(from: start)
    }
}
