/// The structure of a JSON text: the offsets at which its brackets, separators and values begin.
///
/// It does not promise that the text is JSON. Each function returns `nil` where the structure is not that of JSON, and the bytes
/// of a value may be anything.
public struct JSONStructure {
    /// A value of the text.
    public struct Value: Sendable {
        /// Its part of the structure.
        fileprivate let places: Range<Int>
        /// Its bytes in the text, without white space around them.
        public let bytes: Range<Int>
    }

    /// The text.
    public let text: UnsafeRawBufferPointer
    private let offsets: UnsafeBufferPointer<UInt32>

    init(text: UnsafeRawBufferPointer, offsets: UnsafeBufferPointer<UInt32>) {
        self.text = text
        self.offsets = offsets
    }

    /// The value that is the whole text; `nil` if something follows it.
    public var root: Value? {
        guard let value = value(at: 0), value.places.upperBound == offsets.count else { return nil }
        return value
    }

    /// The bytes of a value.
    @inline(__always)
    public func bytes(of value: Value) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: text[value.bytes])
    }

    /// Calls `body` with the key, without its quotation marks, and the value of each member of an object.
    ///
    /// - Returns: False if the value is not an object, or is malformed; then `body` was called for the members before that.
    public func forEachMember(
        of object: Value,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: Value) -> Void
    ) -> Bool {
        guard byte(at: object.places.lowerBound) == UInt8(ascii: "{") else { return false }
        let end = object.places.upperBound - 1
        var place = object.places.lowerBound + 1
        if place == end { return byte(at: end) == UInt8(ascii: "}") }
        while true {
            guard
                byte(at: place) == UInt8(ascii: "\""), byte(at: place + 1) == UInt8(ascii: ":"),
                let value = value(at: place + 2)
            else { return false }
            let key = trimmed(from: place, to: place + 1)
            body(UnsafeRawBufferPointer(rebasing: text[key.lowerBound + 1..<key.upperBound - 1]), value)
            place = value.places.upperBound
            guard place < end else { return byte(at: end) == UInt8(ascii: "}") }
            guard byte(at: place) == UInt8(ascii: ",") else { return false }
            // After a trailing comma comes the closing bracket, which begins no key.
            place += 1
        }
    }

    /// Calls `body` with each element of an array.
    ///
    /// - Returns: False if the value is not an array, or is malformed; then `body` was called for the elements before that.
    public func forEachElement(of array: Value, _ body: (Value) -> Void) -> Bool {
        guard byte(at: array.places.lowerBound) == UInt8(ascii: "[") else { return false }
        let end = array.places.upperBound - 1
        var place = array.places.lowerBound + 1
        if place == end { return byte(at: end) == UInt8(ascii: "]") }
        while true {
            guard let value = value(at: place) else { return false }
            body(value)
            place = value.places.upperBound
            guard place < end else { return byte(at: end) == UInt8(ascii: "]") }
            guard byte(at: place) == UInt8(ascii: ",") else { return false }
            place += 1
        }
    }

    /// The byte at a place; 0 beyond the end of the structure.
    @inline(__always)
    private func byte(at place: Int) -> UInt8 {
        place < offsets.count ? text[Int(offsets[place])] : 0
    }

    /// The value that begins at a place; `nil` if none does, or if it is not closed.
    private func value(at place: Int) -> Value? {
        switch byte(at: place) {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            var depth = 0
            var next = place
            while next < offsets.count {
                let byte = text[Int(offsets[next])]
                next += 1
                // The brackets differ from each other and from other bytes in these bits: 0x5B and 0x7B, 0x5D and 0x7D.
                switch byte | 0x20 {
                case UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "}"): depth -= 1
                default: continue
                }
                if depth == 0 {
                    return Value(places: place..<next, bytes: Int(offsets[place])..<Int(offsets[next - 1]) + 1)
                }
            }
            return nil
        case 0, UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ":"):
            return nil
        default:
            return Value(places: place..<place + 1, bytes: trimmed(from: place, to: place + 1))
        }
    }

    /// The bytes from a place to another one, without the white space before it.
    @inline(__always)
    private func trimmed(from place: Int, to next: Int) -> Range<Int> {
        let start = Int(offsets[place])
        var end = next < offsets.count ? Int(offsets[next]) : text.count
        while end > start + 1, JSONElements.isSpace(text[end - 1]) { end -= 1 }
        return start..<end
    }
}
