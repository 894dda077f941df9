@_spi(CanonicalJSON) import EventModel
import JSONTape

/// The events of PostHog's capture API, and of its newer API for events.
///
/// Sources: https://posthog.com/docs/api/capture, `posthog/capture_v1.py` of https://github.com/PostHog/posthog-python, and
/// `request-queue.ts` of https://github.com/PostHog/posthog-js.
struct PostHogMessages: MessageFormat {
    fileprivate typealias Member = (key: UnsafeRawBufferPointer, value: JSONStructure.Value)

    /// A member of the context that clients state beside the properties, or within them, or both.
    fileprivate struct Shared {
        let key: UnsafeRawBufferPointer
        var beside: JSONStructure.Value
        var within: JSONStructure.Value?
    }

    /// The members of an event that are translated; a member that is `null` counts as absent.
    fileprivate struct Members {
        var event: JSONStructure.Value?
        var id: JSONStructure.Value?
        var timestamp: JSONStructure.Value?
        /// How long before it was sent the event happened, in milliseconds; posthog-js states it instead of a timestamp.
        var offset: JSONStructure.Value?
        var distinctID: JSONStructure.Value?
        var sessionID: JSONStructure.Value?
        /// Whether the client says that it does not know the person.
        var isAnonymous = false
        /// Whether the client says that the time is not to be corrected by its clock.
        var hasFinalTime = false
        var properties: JSONStructure.Value?
        /// What describes the client and the person, with a `$` in front of its name.
        var context: [Member] = []
        /// `$set`, `$set_once` and `$window_id`, as far as the event states them beside its properties.
        var shared: [Shared] = []
        var payload: [Member] = []
        /// Whether the properties are something other than an object.
        var hasOtherPayload = false
        var key: JSONStructure.Value?
    }

    private var clock: ClientClock
    private(set) var key: [UInt8]?
    let idMember: StaticString?

    /// Creates the format; with `answersByEvent`, the answer names events by their ids.
    ///
    /// `sentAt` is the time of sending by the client's clock, if the request's target or its header states it.
    init(_ arrival: BodyArrival, sentAt: Timestamp?, answersByEvent: Bool) {
        clock = ClientClock(arrival, accepting: .postHog, sentAt: sentAt)
        idMember = answersByEvent ? "uuid" : nil
    }

    var shape: MessageBodyShape { .any }

    mutating func note(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        if key.equals("sent_at") { clock.noteSentAt(value) }
        if Self.isKey(key), self.key == nil { self.key = JSONText.text(of: value) }
    }

    mutating func append(
        _ message: JSONStructure.Value,
        of structure: JSONStructure,
        to output: inout ByteBuilder
    ) -> Bool {
        guard let members = Self.members(of: message, in: structure) else { return false }
        let start = output.count
        func bytes(_ value: JSONStructure.Value) -> UnsafeRawBufferPointer { structure.bytes(of: value) }
        if key == nil, let stated = members.key { key = JSONText.text(of: bytes(stated)) }
        if let event = members.event { output.append(#","name":"#, bytes(event)) }
        if let id = members.id { output.appendMessageID(bytes(id)) }
        var original: UnsafeRawBufferPointer?
        if let time = members.timestamp {
            if clock.append(bytes(time), isCorrected: !members.hasFinalTime, to: &output) { original = bytes(time) }
        } else if let offset = members.offset {
            clock.append(ageInMilliseconds: bytes(offset), to: &output)
        }
        if let distinctID = members.distinctID {
            output.appendIdentifier(members.isAnonymous ? #","anonymousId":"# : #","userId":"#, bytes(distinctID))
        }
        if let session = members.sessionID { output.appendIdentifier(#","sessionId":"#, bytes(session)) }
        if !members.context.isEmpty || !members.shared.isEmpty || original != nil {
            output.append(#","context":"#)
            let start = output.count
            // All other members begin with a dollar sign.
            if let original { output.appendMember(ClientClock.originalMember, original) }
            for member in members.shared { Self.append(member, of: structure, to: &output) }
            Self.append(members.context, of: structure, to: &output)
            output.closeObject(from: start)
        }
        if let properties = members.properties {
            output.append(#","payload":"#)
            if members.hasOtherPayload {
                output.append(bytes(properties))
            } else {
                let start = output.count
                Self.append(members.payload, of: structure, to: &output)
                output.closeObject(from: start)
            }
        }
        output.closeObject(from: start)
        return true
    }

    private static func members(of message: JSONStructure.Value, in structure: JSONStructure) -> Members? {
        var members = Members()
        let isObject = structure.forEachPresentMember(of: message) { key, value in
            switch key.count {
            case 5 where key.equals("event"): members.event = value
            case 4 where key.equals("uuid"): members.id = value
            case 9 where key.equals("timestamp"): members.timestamp = value
            case 6 where key.equals("offset"): members.offset = value
            case 11 where key.equals("distinct_id"): members.distinctID = value
            case 10 where key.equals("properties"): members.properties = value
            // These are in the newer API only, in which they are no properties.
            case 10 where key.equals("session_id"): members.sessionID = value
            case 9 where key.equals("window_id"): members.share(windowID, value)
            case 7 where key.equals("options"): noteOptions(value, of: structure, in: &members)
            case _ where isKey(key): members.key = value
            case _ where key.equals("$set") || key.equals("$set_once"): members.share(key, value)
            default: break
            }
        }
        guard isObject else { return nil }
        guard let properties = members.properties, !structure.isEmptyArray(properties) else { return members }
        var known = members
        let hasProperties = structure.forEachMember(of: properties) { key, value in
            note(key, value, structure.bytes(of: value), in: &known)
        }
        if hasProperties { return known }
        // The check says that a payload must be an object. A malformed object is not translated, because it may contain the key.
        guard structure.bytes(of: properties).first != UInt8(ascii: "{") else { return nil }
        members.hasOtherPayload = true
        return members
    }

    private static var windowID: UnsafeRawBufferPointer {
        let name: StaticString = "$window_id"
        return UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    }

    private static func noteOptions(
        _ options: JSONStructure.Value,
        of structure: JSONStructure,
        in members: inout Members
    ) {
        var (isAnonymous, hasFinalTime) = (members.isAnonymous, members.hasFinalTime)
        _ = structure.forEachMember(of: options) { key, value in
            let bytes = structure.bytes(of: value)
            if key.equals("process_person_profile") { isAnonymous = bytes.equals("false") }
            if key.equals("disable_skew_correction") { hasFinalTime = bytes.equals("true") }
        }
        members.isAnonymous = isAnonymous
        members.hasFinalTime = hasFinalTime
    }

    private static func note(
        _ key: UnsafeRawBufferPointer,
        _ value: JSONStructure.Value,
        _ bytes: UnsafeRawBufferPointer,
        in members: inout Members
    ) {
        guard key.first == UInt8(ascii: "$") else {
            if key.equals("distinct_id") {
                members.distinctID = members.distinctID ?? value
            } else if key.equals("token") {
                members.key = members.key ?? value
            } else {
                members.payload.append((key, value))
            }
            return
        }
        // Not for the context: a key would be stored with the event.
        if key.equals("$token") { return members.key = members.key ?? value }
        if key.equals("$session_id"), !bytes.equals("null") { members.sessionID = value }
        if key.equals("$ignore_sent_at") { members.hasFinalTime = bytes.equals("true") }
        if key.equals("$process_person_profile") { members.isAnonymous = bytes.equals("false") }
        if !members.join(key, value) { members.context.append((key, value)) }
    }

    /// Whether a member contains the project's key.
    private static func isKey(_ name: UnsafeRawBufferPointer) -> Bool {
        name.equals("api_key") || name.equals("token") || name.equals("$token")
    }

    private static func append(_ members: [Member], of structure: JSONStructure, to output: inout ByteBuilder) {
        for (key, value) in members {
            output.append(#",""#)
            output.append(key)
            output.append(#"":"#, structure.bytes(of: value))
        }
    }

    /// Appends a member of the context that an event may state at two places.
    ///
    /// As PostHog's server does it, two objects are merged, and their members beside the properties win.
    private static func append(_ member: Shared, of structure: JSONStructure, to output: inout ByteBuilder) {
        func isObject(_ value: JSONStructure.Value) -> Bool { structure.bytes(of: value).first == UInt8(ascii: "{") }
        guard let within = member.within, !structure.bytes(of: within).equals("null") else {
            return append([(member.key, member.beside)], of: structure, to: &output)
        }
        guard isObject(within), isObject(member.beside) else {
            let value = isObject(member.beside) ? member.beside : within
            return append([(member.key, value)], of: structure, to: &output)
        }
        var members: [Member] = []
        var names: Set<[UInt8]> = []
        let isWellFormed = structure.forEachMember(of: member.beside) { key, value in
            names.insert(JSONString.resolvingEscapes(in: key))
            members.append((key, value))
        }
        // The check rejects the event, because the object is not JSON.
        guard isWellFormed else { return append([(member.key, member.beside)], of: structure, to: &output) }
        let areWellFormed = structure.forEachMember(of: within) { key, value in
            if !names.contains(JSONString.resolvingEscapes(in: key)) { members.append((key, value)) }
        }
        guard areWellFormed else { return append([(member.key, within)], of: structure, to: &output) }
        output.append(#",""#)
        output.append(member.key)
        output.append(#"":"#)
        let start = output.count
        append(members, of: structure, to: &output)
        output.closeObject(from: start)
    }
}

extension PostHogMessages.Members {
    /// Notes a member of the context that is beside the properties; of two with the same name, the later one counts.
    fileprivate mutating func share(_ key: UnsafeRawBufferPointer, _ value: JSONStructure.Value) {
        let member = PostHogMessages.Shared(key: key, beside: value)
        if let index = shared.firstIndex(where: { $0.key.elementsEqual(key) }) {
            shared[index] = member
        } else {
            shared.append(member)
        }
    }

    /// Notes a property that is also beside the properties; false if it is not, or was noted already.
    fileprivate mutating func join(_ key: UnsafeRawBufferPointer, _ value: JSONStructure.Value) -> Bool {
        guard let index = shared.firstIndex(where: { $0.within == nil && $0.key.elementsEqual(key) }) else {
            return false
        }
        shared[index].within = value
        return true
    }
}
