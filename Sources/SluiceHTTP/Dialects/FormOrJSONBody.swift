import EventValidation

/// A body that is JSON, or a form whose field `data` is JSON in base64, which browsers send to another origin without a CORS
/// preflight request.
final class FormOrJSONBody: BodyTranslation {
    private enum Phase {
        /// Nothing is read. Can transition to: form or json.
        case beginning
        /// The field of a form is being decoded. Can transition to: json.
        case form(FormField)
        /// The JSON is being translated. No way out.
        case json
    }

    private let json: any BodyTranslation
    private var phase = Phase.beginning
    /// The JSON of a form, as far as it is decoded; `nil` if the body is JSON.
    private var decoded: [UInt8]?

    init(_ json: any BodyTranslation) {
        self.json = json
    }

    var key: [UInt8]? { json.key }

    func conceal(_ key: [UInt8]) { json.conceal(key) }

    var text: UnsafeRawBufferPointer { json.text }

    var statedIDs: [String?] { json.statedIDs }

    var refusals: [Int: [Violation]] { json.refusals }

    var byteCount: Int { json.byteCount + (decoded?.capacity ?? 0) }

    func advance(_ body: UnsafeRawBufferPointer, with tools: TranslationTools, within bytes: inout Int) throws -> Bool {
        if case .beginning = phase { phase = FormField(in: body).map { .form($0) } ?? .json }
        if case .form(var field) = phase {
            var json = decoded.take() ?? []
            let isAtEnd = try field.decode(body, to: &json, within: &bytes)
            decoded = json
            phase = isAtEnd ? .json : .form(field)
            guard isAtEnd, bytes > 0 else { return false }
        }
        guard let decoded else { return try json.advance(body, with: tools, within: &bytes) }
        return try decoded.withUnsafeBytes { try json.advance($0.withoutByteOrderMark(), with: tools, within: &bytes) }
    }
}

/// The field `data` of a form, which is decoded in slices: from percent-encoding, and from base64 (RFC 4648, section 4).
struct FormField {
    private static let name = "data="

    private var position = Self.name.utf8.count
    /// The characters of the current group of four, as a number of six bits each.
    private var group: UInt32 = 0
    private var characters = 0
    /// The number of `=` in the last group.
    private var padding = 0

    /// `nil` if the body is not a form that begins with the field.
    init?(in body: UnsafeRawBufferPointer) {
        guard body.starts(with: Self.name.utf8) else { return nil }
    }

    /// Decodes as much as the budget allows; returns whether the field is at its end.
    ///
    /// - Throws: `MalformedBody`.
    mutating func decode(
        _ body: UnsafeRawBufferPointer,
        to output: inout [UInt8],
        within bytes: inout Int
    ) throws(MalformedBody) -> Bool {
        let start = position
        defer { bytes -= position - start }
        let end = bytes < body.count - start ? start + bytes : body.count
        while position < end {
            if body[position] == UInt8(ascii: "&") { break }
            let (byte, length) = PercentCoding.byte(at: position, of: body)
            try append(byte, to: &output)
            position += length
        }
        guard position >= body.count || body[position] == UInt8(ascii: "&") else { return false }
        guard characters == 0 else { throw Self.malformed }
        return true
    }

    private mutating func append(_ character: UInt8, to output: inout [UInt8]) throws(MalformedBody) {
        if character == UInt8(ascii: "="), characters >= 2 {
            padding += 1
            group <<= 6
        } else {
            guard padding == 0, let bits = Self.bits(of: character) else { throw Self.malformed }
            group = group << 6 | UInt32(bits)
        }
        characters += 1
        guard characters == 4 else { return }
        characters = 0
        for index in 0..<3 - min(padding, 2) {
            output.append(UInt8(truncatingIfNeeded: group >> (16 - 8 * UInt32(index))))
        }
    }

    private static func bits(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }

    private static var malformed: MalformedBody {
        let expected = "a form with base64 in the field 'data'"
        return MalformedBody(
            violation: Violation(code: .malformedJSON, path: "$", expected: expected, found: "something else")
        )
    }
}
