@_spi(CanonicalJSON) import EventModel
@_spi(CanonicalJSON) import JSONTape
import TestCases
import Testing

@Suite("A growing buffer of bytes")
struct ByteBuilderTests {
    @Test("keeps its bytes when it grows")
    func growth() {
        var source = CaseSource(seed: CaseSource.runSeed)
        var builder = ByteBuilder(capacity: 0)
        var wanted: [UInt8] = []
        for _ in 0..<500 {
            let bytes = (0..<source.number(0...40)).map { _ in UInt8(source.number(0...255)) }
            switch source.number(0...3) {
            case 0: for byte in bytes { builder.append(byte) }
            case 1: withPadded(bytes) { builder.appendPadded($0) }
            default: builder.append(bytes)
            }
            wanted += bytes
        }
        builder.append("literal")
        #expect(Array(builder.bytes) == wanted + Array("literal".utf8))
        #expect(builder.count == wanted.count + 7)
    }

    @Test("transfers ownership of its bytes to the caller")
    func release() {
        var builder = ByteBuilder(capacity: 1)
        builder.append("abc")
        builder.replaceByte(at: 1, with: UInt8(ascii: "x"))
        let bytes = builder.release()
        defer { bytes.deallocate() }
        #expect(Array(bytes) == Array("axc".utf8))
    }
}
