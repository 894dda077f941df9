import EventValidation

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A body that is JSON, or a form whose field `data` is JSON in base64, which browsers send to another origin without a CORS
/// preflight request.
///
/// A form is decoded in one turn, so it may have at most 1 MiB.
final class FormOrJSONBody: BodyTranslation {
    private static let maximumFormBytes = 1 << 20
    private static let field = "data="

    private let json: any BodyTranslation
    /// The JSON of a form; `nil` before the first turn, and if the body is JSON.
    private var decoded: [UInt8]?
    private var hasLooked = false

    init(_ json: any BodyTranslation) {
        self.json = json
    }

    var key: [UInt8]? { json.key }

    func conceal(_ key: [UInt8]) { json.conceal(key) }

    var text: UnsafeRawBufferPointer { json.text }

    var byteCount: Int { json.byteCount + (decoded?.count ?? 0) }

    func advance(_ body: UnsafeRawBufferPointer, with tools: TranslationTools, within bytes: inout Int) throws -> Bool {
        if !hasLooked {
            hasLooked = true
            if body.starts(with: Self.field.utf8) {
                bytes -= body.count
                decoded = try Self.decode(body)
            }
        }
        guard let decoded else { return try json.advance(body, with: tools, within: &bytes) }
        return try decoded.withUnsafeBytes { try json.advance($0, with: tools, within: &bytes) }
    }

    private static func decode(_ body: UnsafeRawBufferPointer) throws -> [UInt8] {
        guard body.count <= maximumFormBytes else {
            let expected = "a form of at most \(maximumFormBytes) bytes"
            throw MalformedBody(violation: Violation(code: .tooLarge, path: "$", expected: expected, found: "more"))
        }
        let value = body.dropFirst(field.utf8.count).prefix { $0 != UInt8(ascii: "&") }
        guard let text = Data(base64Encoded: Data(PercentCoding.decode(value))).map(Array.init) else {
            let expected = "a form with base64 in the field 'data'"
            throw MalformedBody(
                violation: Violation(code: .malformedJSON, path: "$", expected: expected, found: "something else")
            )
        }
        return text
    }
}
