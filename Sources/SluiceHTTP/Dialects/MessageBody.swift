@_spi(CanonicalJSON) import EventModel
import EventValidation
import JSONTape

/// What a body of messages consists of.
enum MessageBodyShape {
    /// One message, an array of messages, or an object with an array `batch` of them.
    case any
    /// An object with an array `batch` of messages.
    case batch
    /// One CloudEvent.
    case cloudEvent
    /// An array of CloudEvents.
    case cloudEvents

    /// Whether a body may be an array.
    fileprivate var allowsArray: Bool { self == .any || self == .cloudEvents }
    /// Whether a body may be an object.
    fileprivate var allowsObject: Bool { self != .cloudEvents }
    /// Whether the member `batch` of an object contains the messages.
    fileprivate var hasBatch: Bool { self == .any || self == .batch }

    fileprivate var expected: String {
        switch self {
        case .any: "a JSON object, with or without an array 'batch', or an array of objects"
        case .batch: "a JSON object with an array 'batch'"
        case .cloudEvent: "a JSON object, as the type is application/cloudevents+json"
        case .cloudEvents: "a JSON array, as the type is application/cloudevents-batch+json"
        }
    }
}

/// How the messages of a client protocol become events.
protocol MessageFormat {
    /// What a body consists of.
    var shape: MessageBodyShape { get }

    /// What is wrong with the message that was appended last, beside what the check finds.
    var violations: [Violation] { get }

    /// The key that the body contains, as far as it is translated; the first one, if there are several.
    var key: [UInt8]? { get }

    /// The name of the member with the id of a message, if answers name messages by it; otherwise `nil`.
    var idMember: StaticString? { get }

    /// Notes a member of the object that contains the array `batch`.
    mutating func note(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer)

    /// Appends a message as an object of Sluice's own format.
    ///
    /// - Returns: False if the message is not a well-formed object; what was appended is discarded then.
    mutating func append(
        _ message: JSONStructure.Value,
        of structure: JSONStructure,
        to output: inout ByteBuilder
    ) -> Bool
}

extension MessageFormat {
    var idMember: StaticString? { nil }
    var violations: [Violation] { [] }
}

/// Translates a body of messages.
///
/// A body whose structure can be found at once is translated in one turn. If it is large, or if one of its messages contains an
/// invalid string, its messages are found one after another. A message that is not well-formed is not translated, so that the
/// check rejects it alone. The same applies to an empty message, between two commas. The translation ends with the first message beyond the maximum number of events.
final class MessageBody<Format: MessageFormat>: BodyTranslation {
    private enum Phase {
        /// Nothing is read. Can transition to: members, elements or end.
        case beginning
        /// Between two members of the object that contains the batch. Can transition to: elements, end.
        case members(JSONElementScanner)
        /// Between two messages of an array, which is this part of the body. Can transition to: end.
        case elements(JSONElementScanner, Range<Int>)
        /// Everything is translated. No way out.
        case end
    }

    /// A message takes at least as much time as so many bytes.
    private static var bytesPerMessage: Int { 64 }
    /// The maximum size of a body that is translated in one turn.
    private static var maximumBytesAtOnce: Int { 256 << 10 }
    /// The maximum size of an id that is noted.
    private static var maximumIDBytes: Int { 256 }
    /// The memory of an id that is a UUID, beside the array that contains it.
    private static var usualIDBytes: Int { 80 }
    /// The memory that says what is wrong with one message; the violations themselves are shared by the messages that have them.
    private static var refusalBytes: Int { 48 }

    private var format: Format
    private var phase = Phase.beginning
    private var batch: Range<Int>?
    private var output = ByteBuilder(capacity: 0)
    private var hasLineFeeds = true
    /// The number of messages that may still be translated.
    private var room = 0
    /// Whether a message was appended as it is.
    private var hasUntranslated = false
    private(set) var statedIDs: [String?] = []
    private(set) var refusals: [Int: [Violation]] = [:]
    /// The number of messages that are translated.
    private var lineCount = 0

    init(_ format: Format) {
        self.format = format
    }

    var key: [UInt8]? { format.key }

    var text: UnsafeRawBufferPointer { output.bytes }

    var byteCount: Int {
        output.reservedBytes + statedIDs.capacity * (MemoryLayout<String?>.stride + Self.usualIDBytes)
            + refusals.count * Self.refusalBytes
    }

    func advance(_ body: UnsafeRawBufferPointer, with tools: TranslationTools, within bytes: inout Int) throws -> Bool {
        if case .beginning = phase { try begin(body, with: tools, within: &bytes) }
        if case .members(var scanner) = phase {
            phase = try readMembers(of: body, &scanner, with: tools, within: &bytes)
            // The messages can wait until the key is judged.
            if case .elements = phase, format.key != nil { return false }
        }
        if case .elements(var scanner, let array) = phase {
            let isAtEnd = try readElements(of: body, in: array, &scanner, with: tools, within: &bytes)
            phase = isAtEnd ? .end : .elements(scanner, array)
        }
        if case .end = phase { return true }
        return false
    }

    func conceal(_ key: [UInt8]) {
        if hasUntranslated { output.blank(key) }
    }

    private func begin(
        _ body: UnsafeRawBufferPointer,
        with tools: TranslationTools,
        within bytes: inout Int
    ) throws {
        // A large body may turn out to have no key, and until then its memory is that of all senders.
        output.reserve(min(body.count, Self.maximumBytesAtOnce) * 5 / 4 + 64)
        hasLineFeeds = body.firstIndex(ofByte: UInt8(ascii: "\n")) != nil
        room = tools.maximumEvents == .max ? .max : tools.maximumEvents + 1
        if body.count <= Self.maximumBytesAtOnce {
            bytes -= body.count
            if try tools.withStructure(of: body, translate) { return phase = .end }
        }
        switch body.first(where: { !JSONElements.isSpace($0) }) {
        case UInt8(ascii: "{") where format.shape.allowsObject: phase = .members(JSONElementScanner(of: .object))
        case UInt8(ascii: "[") where format.shape.allowsArray: phase = .elements(Self.messageScanner, 0..<body.count)
        default: throw Self.malformed(format)
        }
    }

    /// Finds the messages of an array; a client whose batch is refused as a whole discards it, so nothing between two commas is
    /// a message that is rejected alone.
    private static var messageScanner: JSONElementScanner { JSONElementScanner(allowsEmptyElements: true) }

    // MARK: At once

    /// Translates a body with this structure; false if the structure is not that of JSON.
    private func translate(_ structure: JSONStructure?) throws -> Bool {
        guard let structure, let root = structure.root else { return false }
        if structure.bytes(of: root).first == UInt8(ascii: "["), format.shape.allowsArray {
            return appendElements(of: root, structure)
        }
        guard format.shape.allowsObject else { return false }
        var batches = 0
        var array: JSONStructure.Value?
        let isObject = structure.forEachMember(of: root) { key, value in
            if format.shape.hasBatch, key.equals("batch") {
                batches += 1
                array = value
            } else {
                format.note(key, structure.bytes(of: value))
            }
        }
        guard isObject else { return false }
        guard let array else {
            if format.shape == .batch { throw Self.malformed(format) }
            appendLine(root, of: structure)
            return true
        }
        guard batches == 1 else { throw Self.malformed(format) }
        return appendElements(of: array, structure)
    }

    /// Appends the messages of an array, or none if the array is malformed.
    private func appendElements(of array: JSONStructure.Value, _ structure: JSONStructure) -> Bool {
        let start = output.count
        let (roomBefore, idsBefore, linesBefore) = (room, statedIDs.count, lineCount)
        if structure.forEachElement(of: array, { appendLine($0, of: structure) }) { return true }
        output.count = start
        room = roomBefore
        statedIDs.removeLast(statedIDs.count - idsBefore)
        lineCount = linesBefore
        refusals = refusals.filter { $0.key < linesBefore }
        return false
    }

    // MARK: In turns

    private func readMembers(
        of body: UnsafeRawBufferPointer,
        _ scanner: inout JSONElementScanner,
        with tools: TranslationTools,
        within bytes: inout Int
    ) throws -> Phase {
        while bytes > 0 {
            switch Self.step(&scanner, in: body, within: &bytes) {
            case .element(let range):
                guard let (key, value) = JSONElements.member(UnsafeRawBufferPointer(rebasing: body[range])) else {
                    throw Self.malformed(format)
                }
                if format.shape.hasBatch, key.equals("batch") {
                    guard batch == nil else { throw Self.malformed(format) }
                    batch = range.upperBound - value.count..<range.upperBound
                } else {
                    format.note(key, value)
                }
            case .unfinished: break
            case .broken: throw Self.malformed(format)
            case .end:
                if let batch { return .elements(Self.messageScanner, batch) }
                if format.shape == .batch { throw Self.malformed(format) }
                appendAlone(body, with: tools)
                return .end
            }
        }
        return .members(scanner)
    }

    /// Translates messages of an array; returns whether it was the last one.
    private func readElements(
        of body: UnsafeRawBufferPointer,
        in array: Range<Int>,
        _ scanner: inout JSONElementScanner,
        with tools: TranslationTools,
        within bytes: inout Int
    ) throws -> Bool {
        let text = UnsafeRawBufferPointer(rebasing: body[array])
        while bytes > 0 {
            guard room > 0 else { return true }
            switch Self.step(&scanner, in: text, within: &bytes) {
            case .element(let range):
                bytes -= Self.bytesPerMessage
                appendAlone(UnsafeRawBufferPointer(rebasing: text[range]), with: tools)
            case .unfinished: break
            case .end: return true
            case .broken: throw Self.malformed(format)
            }
        }
        return false
    }

    private static func step(
        _ scanner: inout JSONElementScanner,
        in text: UnsafeRawBufferPointer,
        within bytes: inout Int
    ) -> JSONElementScanner.Step {
        let start = scanner.position
        let step = scanner.next(in: text, limit: bytes < text.count - start ? start + bytes : text.count)
        bytes -= max(1, scanner.position - start)
        return step
    }

    /// Appends a message that is a text of its own.
    private func appendAlone(_ message: UnsafeRawBufferPointer, with tools: TranslationTools) {
        // The check rejects it without reading it, so its structure need not be known.
        guard message.count <= EventValidator.maximumEventBytes else { return appendAsIs(message) }
        tools.withStructure(of: message) { structure in
            guard let structure, let root = structure.root else { return appendAsIs(message) }
            appendLine(root, of: structure)
        }
    }

    // MARK: Lines

    private func appendLine(_ message: JSONStructure.Value, of structure: JSONStructure) {
        guard room > 0 else { return }
        let start = output.count
        if format.append(message, of: structure, to: &output) {
            room -= 1
            let violations = format.violations
            if !violations.isEmpty { refusals[lineCount] = violations }
            endLine(from: start)
            noteID(of: structure.bytes(of: message))
        } else {
            output.count = start
            appendAsIs(structure.bytes(of: message))
        }
    }

    /// Appends a message that the check rejects: it is too large, or not a well-formed object.
    private func appendAsIs(_ message: UnsafeRawBufferPointer) {
        let start = output.count
        room -= 1
        hasUntranslated = true
        output.append(message)
        // The check would skip an empty line, and the indexes of the messages after it would be wrong.
        if message.isEmpty { output.append(UInt8(ascii: ",")) }
        endLine(from: start)
        noteID(of: message)
    }

    /// Notes the id of a message if answers name messages by it; the message need not be JSON.
    ///
    /// Clients write the id near the beginning, so the end of a message that is too large is not searched.
    private func noteID(of message: UnsafeRawBufferPointer) {
        guard let name = format.idMember else { return }
        var id: String?
        var scanner = JSONElementScanner(of: .object)
        while id == nil, case .element(let range) = scanner.next(in: message, limit: Self.maximumBytesAtOnce) {
            let member = JSONElements.member(UnsafeRawBufferPointer(rebasing: message[range]))
            guard let member, member.key.equals(name), member.value.count <= Self.maximumIDBytes else { continue }
            id = JSONText.text(of: member.value).map { String(decoding: $0, as: UTF8.self) }
        }
        statedIDs.append(id)
    }

    private func endLine(from start: Int) {
        lineCount += 1
        // Nearly all clients send bodies without line feeds, in which none need be searched for.
        if hasLineFeeds { output.endLine(from: start) } else { output.append(UInt8(ascii: "\n")) }
    }

    private static func malformed(_ format: Format) -> MalformedBody {
        return MalformedBody(
            violation: Violation(
                code: .malformedJSON,
                path: "$",
                expected: format.shape.expected,
                found: "something else"
            )
        )
    }
}

extension JSONStructure {
    /// The bytes of a value that should be an object: `{}` for an empty array, which is how PHP writes an empty object.
    func objectBytes(of value: Value) -> UnsafeRawBufferPointer {
        guard isEmptyArray(value) else { return bytes(of: value) }
        let empty: StaticString = "{}"
        return UnsafeRawBufferPointer(start: empty.utf8Start, count: empty.utf8CodeUnitCount)
    }

    /// Calls `body` as `forEachMember` does, except for members that are `null`: clients send `null` for what is absent.
    func forEachPresentMember(
        of object: Value,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: Value) -> Void
    ) -> Bool {
        forEachMember(of: object) { key, value in
            if !bytes(of: value).equals("null") { body(key, value) }
        }
    }
}
