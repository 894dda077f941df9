@_spi(CanonicalJSON) import EventModel
@_spi(CanonicalJSON) import JSONTape

/// Passes a text to the parser, with the readable bytes after it that the parser requires.
func withPadded<Result>(_ text: some Sequence<UInt8>, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
    -> Result
{
    let bytes = Array(text)
    // The bytes after the text must not matter, even if they continue a number or end a string.
    let padded = bytes + [UInt8](repeating: UInt8(ascii: "1"), count: JSONParser.padding)
    return try padded.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<bytes.count])) }
}

/// A text after it was parsed and written again.
func rewritten(_ text: some Sequence<UInt8>) throws -> String {
    var parser = JSONParser()
    return try withPadded(text) { text in
        let tape = try parser.parse(text)
        var builder = ByteBuilder(capacity: 0)
        tape.appendValue(at: tape.root, to: &builder)
        return String(decoding: builder.bytes, as: UTF8.self)
    }
}

func written(_ value: Double) -> String {
    var builder = ByteBuilder(capacity: 0)
    builder.append(value)
    return String(decoding: builder.bytes, as: UTF8.self)
}
