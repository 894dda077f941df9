/// The structure of a JSON text: the offsets at which its brackets, separators and values begin.
///
/// Its brackets are balanced, but it does not promise that the text is JSON. Each function returns `nil` or false where the
/// structure is not that of JSON, and the bytes of a value without brackets may be anything.
public struct JSONStructure {
    /// A value of the text.
    public struct Value: Sendable {
        /// The places in the structure at which it begins and behind which it ends.
        @usableFromInline let first: UInt32
        @usableFromInline let end: UInt32

        @inlinable
        init(_ first: Int, _ end: Int) {
            self.first = UInt32(truncatingIfNeeded: first)
            self.end = UInt32(truncatingIfNeeded: end)
        }
    }

    /// The text.
    public let text: UnsafeRawBufferPointer
    @usableFromInline let offsets: UnsafeBufferPointer<UInt32>
    /// For each bracket that opens a value, where the value ends; the other entries mean nothing.
    @usableFromInline let ends: UnsafePointer<UInt32>

    init(text: UnsafeRawBufferPointer, offsets: UnsafeBufferPointer<UInt32>, ends: UnsafePointer<UInt32>) {
        self.text = text
        self.offsets = offsets
        self.ends = ends
    }

    /// The value that is the whole text; `nil` if something follows it.
    public var root: Value? {
        guard let value = value(at: 0), value.end == offsets.count else { return nil }
        return value
    }

    /// The bytes of a value, without white space around them.
    @inlinable
    public func bytes(of value: Value) -> UnsafeRawBufferPointer {
        trimmed(from: Int(value.first), to: Int(value.end))
    }

    /// Whether a value is an array without elements.
    public func isEmptyArray(_ value: Value) -> Bool {
        byte(at: Int(value.first)) == UInt8(ascii: "[") && value.end == value.first + 2
    }

    /// Calls `body` with the key, without its quotation marks, and the value of each member of an object.
    ///
    /// - Returns: False if the value is not an object, or is malformed; then `body` was called for the members before that.
    @inlinable
    public func forEachMember(
        of object: Value,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: Value) -> Void
    ) -> Bool {
        guard byte(at: Int(object.first)) == UInt8(ascii: "{") else { return false }
        let end = Int(object.end) - 1
        var place = Int(object.first) + 1
        if place == end { return true }
        while true {
            guard
                byte(at: place) == UInt8(ascii: "\""), byte(at: place + 1) == UInt8(ascii: ":"),
                let value = value(at: place + 2)
            else { return false }
            let key = trimmed(from: place, to: place + 1)
            body(UnsafeRawBufferPointer(rebasing: key[1..<key.count - 1]), value)
            place = Int(value.end)
            guard place < end else { return place == end }
            guard byte(at: place) == UInt8(ascii: ",") else { return false }
            // After a trailing comma comes the closing bracket, which begins no key.
            place += 1
        }
    }

    /// Calls `body` with each element of an array.
    ///
    /// - Returns: False if the value is not an array, or is malformed; then `body` was called for the elements before that.
    @inlinable
    public func forEachElement(of array: Value, _ body: (Value) -> Void) -> Bool {
        guard byte(at: Int(array.first)) == UInt8(ascii: "[") else { return false }
        let end = Int(array.end) - 1
        var place = Int(array.first) + 1
        if place == end { return true }
        while true {
            guard let value = value(at: place) else { return false }
            body(value)
            place = Int(value.end)
            guard place < end else { return place == end }
            guard byte(at: place) == UInt8(ascii: ",") else { return false }
            place += 1
        }
    }

    /// The byte at a place; 0 beyond the end of the structure.
    @inlinable
    @inline(__always)
    func byte(at place: Int) -> UInt8 {
        place < offsets.count ? text[Int(offsets[place])] : 0
    }

    /// The value that begins at a place; `nil` if none does.
    @inlinable
    @inline(__always)
    func value(at place: Int) -> Value? {
        switch byte(at: place) {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            Value(place, Int(ends[place]))
        case 0, UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ":"):
            nil
        default:
            Value(place, place + 1)
        }
    }

    /// The bytes from a place to another one, without the white space before it.
    @inlinable
    @inline(__always)
    func trimmed(from place: Int, to next: Int) -> UnsafeRawBufferPointer {
        let start = Int(offsets[place])
        var end = next < offsets.count ? Int(offsets[next]) : text.count
        while end > start + 1, JSONElements.isSpace(text[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: text[start..<end])
    }
}
