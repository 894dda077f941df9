/// A parsed document in simdjson's form: a sequence of 64-bit words, with the kind of a value in the top byte of its word.
///
/// A value is identified by the index of its word. The tape is a view of its parser's memory, and is invalid after the next
/// parse. The accessors for a kind of value must only be called for values of that kind.
///
/// The layout is documented in simdjson's `doc/tape.md`.
public struct JSONTape {
    /// The kind of a value, as the byte that denotes it on the tape.
    public struct Kind: Equatable, Sendable {
        /// The byte on the tape.
        public let byte: UInt8

        @inlinable
        init(byte: UInt8) {
            self.byte = byte
        }

        /// An object.
        public static var object: Kind { @inlinable get { Kind(byte: UInt8(ascii: "{")) } }
        /// An array.
        public static var array: Kind { @inlinable get { Kind(byte: UInt8(ascii: "[")) } }
        /// A string.
        public static var string: Kind { @inlinable get { Kind(byte: UInt8(ascii: "\"")) } }
        /// A whole number that fits into an Int64.
        public static var signed: Kind { @inlinable get { Kind(byte: UInt8(ascii: "l")) } }
        /// A whole number that fits into a UInt64, but not into an Int64.
        public static var unsigned: Kind { @inlinable get { Kind(byte: UInt8(ascii: "u")) } }
        /// A number with a fraction or an exponent, or beyond the ranges of the other kinds.
        public static var double: Kind { @inlinable get { Kind(byte: UInt8(ascii: "d")) } }
        /// `true`.
        public static var `true`: Kind { @inlinable get { Kind(byte: UInt8(ascii: "t")) } }
        /// `false`.
        public static var `false`: Kind { @inlinable get { Kind(byte: UInt8(ascii: "f")) } }
        /// `null`.
        public static var null: Kind { @inlinable get { Kind(byte: UInt8(ascii: "n")) } }

        /// Whether the value is a number of any of the three kinds.
        @inlinable
        public var isNumber: Bool { self == .signed || self == .unsigned || self == .double }
    }

    @usableFromInline let words: UnsafePointer<UInt64>
    @usableFromInline let strings: UnsafeRawPointer
    /// Whether any string contains an escape.
    ///
    /// If not, no string contains a character that JSON must escape, or half of a surrogate pair.
    public let hasEscapes: Bool
    /// The positions of brackets, separators and the first bytes of values in `text`.
    @usableFromInline let structurals: UnsafeBufferPointer<UInt32>
    @usableFromInline let text: UnsafeRawBufferPointer

    @inlinable
    init(
        words: UnsafePointer<UInt64>,
        strings: UnsafeRawPointer,
        hasEscapes: Bool,
        structurals: UnsafeBufferPointer<UInt32>,
        text: UnsafeRawBufferPointer
    ) {
        self.words = words
        self.strings = strings
        self.hasEscapes = hasEscapes
        self.structurals = structurals
        self.text = text
    }

    /// The tape of the document `null`.
    public static var null: JSONTape {
        JSONTape(
            words: nullWords,
            strings: UnsafeRawPointer(nullWords),
            hasEscapes: false,
            structurals: UnsafeBufferPointer(start: nil, count: 0),
            text: UnsafeRawBufferPointer(start: nil, count: 0)
        )
    }

    // Safe to share: it is never written after its initialisation, and never freed.
    nonisolated(unsafe) private static let nullWords: UnsafePointer<UInt64> = {
        let words = UnsafeMutablePointer<UInt64>.allocate(capacity: 2)
        words.initialize(repeating: UInt64(UInt8(ascii: "n")) << 56, count: 2)
        return UnsafePointer(words)
    }()

    /// The index of the document's value.
    @inlinable
    public var root: Int { 1 }

    /// The kind of the value at `index`.
    @inlinable
    @inline(__always)
    public func kind(at index: Int) -> Kind {
        Kind(byte: UInt8(truncatingIfNeeded: words[index] >> 56))
    }

    /// The index of the word after the value at `index`.
    @inlinable
    @inline(__always)
    public func end(of index: Int) -> Int {
        switch kind(at: index) {
        case .object, .array: Int(words[index] & 0xFFFF_FFFF)
        case .signed, .unsigned, .double: index &+ 2
        default: index &+ 1
        }
    }

    /// The words between the brackets of the array or object at `index`: values, or alternating keys and values.
    @inlinable
    @inline(__always)
    public func contents(of index: Int) -> Range<Int> {
        index &+ 1..<Int(words[index] & 0xFFFF_FFFF) &- 1
    }

    /// The UTF-8 of the string at `index`, without escapes; `ByteBuilder.padding` more bytes after it are readable.
    @inlinable
    @inline(__always)
    public func string(at index: Int) -> UnsafeRawBufferPointer {
        let start = strings + Int(words[index] & 0x00FF_FFFF_FFFF_FFFF)
        let count = Int(start.loadUnaligned(as: UInt32.self))
        return UnsafeRawBufferPointer(start: start + 4, count: count)
    }

    /// The number at `index`, of kind `signed`.
    @inlinable
    @inline(__always)
    public func signed(at index: Int) -> Int64 { Int64(bitPattern: words[index + 1]) }

    /// The number at `index`, of kind `unsigned`.
    @inlinable
    @inline(__always)
    public func unsigned(at index: Int) -> UInt64 { words[index + 1] }

    /// The number at `index`, of kind `double`; NaN if it is whole and beyond 64 bits, or beyond the range of a double.
    ///
    /// `oversizedNumber` has its text.
    @inlinable
    @inline(__always)
    public func double(at index: Int) -> Double { Double(bitPattern: words[index + 1]) }

    /// A NaN, whose lower 32 bits are the offset of a number in the text.
    ///
    /// No number of a text is NaN.
    static var oversizedBits: UInt64 { 0x7FF8_0000_0000_0000 }

    /// The number at `index` as it was written, whose `double` is NaN.
    public func oversizedNumber(at index: Int) -> UnsafeRawBufferPointer {
        text.number(at: Int(words[index + 1] & 0xFFFF_FFFF))
    }

    /// The double that is nearest to the number at `index`, of kind `double`; infinite if the number is beyond the range of a double.
    public func nearestDouble(at index: Int) -> Double {
        let value = double(at: index)
        guard value.isNaN else { return value }
        return Double(String(decoding: oversizedNumber(at: index), as: UTF8.self)) ?? .infinity
    }
}
