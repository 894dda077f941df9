/// The structure of a line without escapes: where its brackets, separators and values begin.
///
/// It is what simdjson's first stage finds out. So the text is UTF-8, each string is closed and contains no control characters,
/// and between two places there is only white space, behind the value or bracket at the first of them. Nothing else is checked: the
/// reader must check every place, including the separators, and that the line ends after the last one.
///
/// A place is the number of a bracket, separator or value in the structure, counted from the first one of the line.
public struct JSONLineStructure: BitwiseCopyable {
    /// The lines that were indexed.
    @usableFromInline let text: UnsafeRawBufferPointer
    /// The offsets in the text of this line's places and of all places after them.
    @usableFromInline let offsets: UnsafeBufferPointer<UInt32>
    /// The offset behind the line.
    @usableFromInline let end: Int

    init(text: UnsafeRawBufferPointer, offsets: UnsafeBufferPointer<UInt32>, end: Int) {
        self.text = text
        self.offsets = offsets
        self.end = end
    }

    /// The byte at a place; 0 beyond the last place of the text.
    @inlinable
    @inline(__always)
    public func byte(at place: Int) -> UInt8 {
        place < offsets.count ? text[Int(offsets[place])] : 0
    }

    /// Whether the line ends directly before a place.
    @inlinable
    @inline(__always)
    public func ends(before place: Int) -> Bool {
        Int(offsets[place &- 1]) < end && (place >= offsets.count || Int(offsets[place]) >= end)
    }

    /// The place behind the value at a place, if its brackets match: they are only counted.
    @inlinable
    @inline(__always)
    public func end(ofValueAt place: Int) -> Int {
        var place = place
        var depth = 0
        repeat {
            // The brackets differ from other bytes in these bits: 0x5B and 0x7B, 0x5D and 0x7D.
            switch byte(at: place) | 0x20 {
            case UInt8(ascii: "{"): depth &+= 1
            case UInt8(ascii: "}"): depth &-= 1
            default: break
            }
            place &+= 1
        } while depth > 0 && place < offsets.count
        return place
    }

    /// The bytes of the value at a place, without white space after it; empty if no place follows.
    ///
    /// `JSONParser.padding` more bytes after them are readable.
    @inlinable
    @inline(__always)
    public func value(at place: Int) -> UnsafeRawBufferPointer {
        guard place &+ 1 < offsets.count else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let start = Int(offsets[place])
        var end = Int(offsets[place &+ 1])
        while end > start &+ 1, JSONElements.isSpace(text[end &- 1]) { end &-= 1 }
        return bytes(from: start, count: end &- start)
    }

    /// The bytes from one place to another one, without white space before it; both must be within the line, or directly behind it.
    @inlinable
    @inline(__always)
    public func text(from place: Int, to end: Int) -> UnsafeRawBufferPointer {
        let start = Int(offsets[place])
        return bytes(from: start, count: Int(offsets[end &- 1]) &+ 1 &- start)
    }

    @inlinable
    @inline(__always)
    func bytes(from offset: Int, count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: text.baseAddress.map { $0 + offset }, count: count)
    }

    /// The text of the string at a place, without its quotation marks; `nil` if there is no string.
    @inlinable
    @inline(__always)
    public func string(at place: Int) -> UnsafeRawBufferPointer? {
        guard byte(at: place) == UInt8(ascii: "\"") else { return nil }
        // Behind a string there is only white space, so its last byte is the quotation mark that closes it.
        let value = value(at: place)
        guard value.count >= 2, let start = value.baseAddress else { return nil }
        return UnsafeRawBufferPointer(start: start + 1, count: value.count &- 2)
    }

    /// The key at a place, without its quotation marks; `nil` if there is no string with a colon after it.
    @inlinable
    @inline(__always)
    public func key(at place: Int) -> UnsafeRawBufferPointer? {
        byte(at: place &+ 1) == UInt8(ascii: ":") ? string(at: place) : nil
    }

    /// The bytes from a place to the end of the text, with `JSONParser.padding` readable bytes after them; `nil` beyond the last place.
    @inlinable
    @inline(__always)
    public func bytes(from place: Int) -> UnsafeRawPointer? {
        place < offsets.count ? text.baseAddress.map { $0 + Int(offsets[place]) } : nil
    }
}
