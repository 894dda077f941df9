/// A text that is compared byte by byte, as on the wire and in databases.
///
/// Swift's `String` compares canonical equivalence: an `é` of one code point equals one of two, so a set or a dictionary of strings
/// keeps only one of them.
package struct ExactText: Hashable, Comparable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (first: Self, second: Self) -> Bool { first.text.utf8.elementsEqual(second.text.utf8) }

    package static func < (first: Self, second: Self) -> Bool {
        first.text.utf8.lexicographicallyPrecedes(second.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        // So that the hashes of several texts differ if the bytes are the same, divided in another way.
        hasher.combine(UInt8.max)
    }
}
