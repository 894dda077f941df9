import EventModel
import JSONTape

extension PayloadEncoder {
    /// Appends a text as a JSON string, and checks its length and pattern.
    @inline(__always)
    mutating func append(_ text: String, as property: PropertyRules) {
        var text = text
        text.withUTF8 { utf8 in
            let bytes = UnsafeRawBufferPointer(utf8)
            appendText(bytes)
            if property.pointee.hasLength, !property.pointee.isSafeLength(bytes.count) {
                checkLength(of: bytes, as: property)
            }
            if property.pointee.pattern >= 0, !plan.matchesPattern(bytes, of: property) {
                reportPattern(of: property)
            }
        }
    }

    /// Appends a text as a JSON string; one with a NUL character is noted, because PostgreSQL cannot hold it.
    @inline(__always)
    mutating func appendText(_ text: UnsafeRawBufferPointer) {
        if !output.appendUnpaddedString(text).isEmpty { reportNUL() }
    }

    @inline(never)
    private mutating func checkLength(of text: UnsafeRawBufferPointer, as property: PropertyRules) {
        guard let problem = property.pointee.lengthProblem(of: text) else { return }
        let (code, (expected, found)) = (problem.code, problem.description)
        report(code, of: property, expected: expected, found: found)
    }
}
