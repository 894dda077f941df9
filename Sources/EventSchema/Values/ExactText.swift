/// A text that is the same as another byte by byte only, as on the wire.
///
/// Swift's own equality holds canonically equivalent texts for the same: an `é` of one code point and one of two.
package struct ExactText: Hashable {
    private let utf8: [UInt8]

    package init(_ text: String) {
        utf8 = Array(text.utf8)
    }
}
