/// The header field `traceparent` of W3C Trace Context (https://www.w3.org/TR/trace-context/), and the key of the `context` and the
/// header in Kafka with the same name.
package enum TraceParent {
    /// The key of the `context`.
    package static let key = "traceparent"
    /// The greatest length of a value that is accepted, in bytes; later versions may have more than the 55 of version 00.
    private static let maximumBytes = 128
    private static let knownBytes = 55

    /// Whether a text is a valid value: `version-trace-parent-flags`, in lower-case hexadecimal digits.
    package static func isValid(_ text: some RandomAccessCollection<UInt8>) -> Bool {
        guard text.count >= knownBytes, text.count <= maximumBytes else { return false }
        let fields = text.prefix(knownBytes).split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard fields.map(\.count) == [2, 32, 16, 2], fields.allSatisfy({ $0.allSatisfy(isDigit) }) else { return false }
        let version = fields[0]
        guard !version.elementsEqual("ff".utf8), !isZero(fields[1]), !isZero(fields[2]) else { return false }
        // Later versions may append fields, of which only that they are harmless in every destination is checked.
        let rest = text.dropFirst(knownBytes)
        if version.elementsEqual("00".utf8) || rest.isEmpty { return rest.isEmpty }
        return rest.first == UInt8(ascii: "-") && rest.allSatisfy { isDigit($0) || $0 == UInt8(ascii: "-") }
    }

    private static func isZero(_ digits: some Collection<UInt8>) -> Bool {
        digits.allSatisfy { $0 == UInt8(ascii: "0") }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
