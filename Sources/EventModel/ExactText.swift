/// A text that is compared byte by byte, as on the wire and in databases.
///
/// Swift's `String` compares canonical equivalence: an `é` of one code point equals one of two, so a set of strings keeps only one.
package struct ExactText: Hashable, Comparable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (first: Self, second: Self) -> Bool {
        // Texts of the same bytes are equal, and this comparison is faster.
        first.text == second.text && first.text.utf8.elementsEqual(second.text.utf8)
    }

    package static func < (first: Self, second: Self) -> Bool {
        first.text.utf8.lexicographicallyPrecedes(second.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        // No text has this byte, so two texts in a row do not hash like two others with the same bytes.
        hasher.combine(UInt8.max)
    }
}
