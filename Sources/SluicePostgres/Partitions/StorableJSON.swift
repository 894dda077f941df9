import EventModel
import TrackerKit

/// JSON that the server can store as `jsonb`, which has neither NUL nor lone surrogates.
enum StorableJSON {
    /// The headers of a record as an array of objects with `name` and `value`.
    static func headers(_ headers: [SourceRecord.Header]) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "[")]
        for (index, header) in headers.enumerated() {
            bytes += (index == 0 ? #"{"name":"# : #",{"name":"#).utf8
            append(header.name, to: &bytes)
            bytes += #","value":"#.utf8
            append(String(decoding: header.value, as: UTF8.self), to: &bytes)
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "]"))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The same JSON with `\ufffd` in place of each escape that the server cannot store.
    static func text(_ json: String) -> String {
        guard json.utf8.contains(UInt8(ascii: "\\")) else { return json }
        let source = Array(json.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(source.count)
        var index = 0
        while index < source.count {
            guard source[index] == UInt8(ascii: "\\"), index + 1 < source.count else {
                result.append(source[index])
                index += 1
                continue
            }
            guard let unit = escapedUnit(in: source, at: index) else {
                result += source[index...index + 1]
                index += 2
                continue
            }
            let next = escapedUnit(in: source, at: index + 6)
            switch unit {
            case 0xD800..<0xDC00 where next.map { (0xDC00..<0xE000).contains($0) } == true:
                result += source[index..<index + 12]
                index += 12
            case 0, 0xD800..<0xE000:
                result += #"\ufffd"#.utf8
                index += 6
            default:
                result += source[index..<index + 6]
                index += 6
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The value of the escape `\uXXXX` at an index; `nil` if there is none.
    private static func escapedUnit(in source: [UInt8], at index: Int) -> UInt16? {
        guard index + 6 <= source.count, source[index] == UInt8(ascii: "\\"), source[index + 1] == UInt8(ascii: "u")
        else { return nil }
        return UInt16(String(decoding: source[index + 2..<index + 6], as: UTF8.self), radix: 16)
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        let isStorable = !text.utf8.contains(0)
        JSONString.append(isStorable ? text : text.replacingNUL, to: &bytes)
    }
}

extension String {
    /// The text with U+FFFD in place of each NUL.
    fileprivate var replacingNUL: String {
        var result = UnicodeScalarView()
        for scalar in unicodeScalars { result.append(scalar == "\0" ? "\u{FFFD}" : scalar) }
        return String(result)
    }
}
