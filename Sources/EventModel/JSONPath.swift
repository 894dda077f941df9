/// Paths into JSON, as RFC 9535 writes them.
package enum JSONPath {
    /// The step to a key of an object, with quotes if it needs them.
    package static func step(toKey key: String) -> String {
        let isPlain = key.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
                true
            default:
                false
            }
        }
        if isPlain, let first = key.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) {
            return "." + key
        }
        let escaped = key.unicodeScalars.map { scalar in
            switch scalar {
            case "'", "\\": "\\" + String(scalar)
            case _ where scalar.value < 0x20:
                "\\u00" + (scalar.value < 16 ? "0" : "1") + String(scalar.value % 16, radix: 16)
            default: String(scalar)
            }
        }
        return "['" + escaped.joined() + "']"
    }
}
