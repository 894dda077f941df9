/// Case-insensitive comparison and trimming of header text without copies.
extension Collection<UInt8> {
    /// Whether the bytes equal `token`, which is in lower case, ignoring the case of ASCII letters.
    @inline(__always)
    func equalsIgnoringCase(_ token: StaticString) -> Bool {
        guard count == token.utf8CodeUnitCount else { return false }
        var expected = token.utf8Start
        for byte in self {
            let isUpper = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
            guard (isUpper ? byte | 0x20 : byte) == expected.pointee else { return false }
            expected += 1
        }
        return true
    }
}

extension Collection<UInt8> where Self: BidirectionalCollection, SubSequence: BidirectionalCollection {
    /// The bytes without leading and trailing spaces and tabs.
    var trimmingSpace: SubSequence {
        var rest = self[...]
        while let first = rest.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") { rest.removeFirst() }
        while let last = rest.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") { rest.removeLast() }
        return rest
    }
}
