/// The base URI of the `$id`s of exported schemas: the address where they are published, or a URN.
package struct SchemaBase: Sendable, Hashable {
    /// `urn:sluice:`, for schemas that are not published.
    package static let `default` = SchemaBase(text: "urn:sluice:")

    private let text: String

    private init(text: String) {
        self.text = text
    }

    /// Parses an absolute URI without a fragment or query; `nil` for anything else.
    ///
    /// A slash is added if the path does not end with one.
    package init?(_ text: String) {
        guard let match = text.wholeMatch(of: /([A-Za-z][A-Za-z0-9+.\-]*):([A-Za-z0-9\-._~:\/\[\]@!$&'()*+,;=%]*)/)
        else {
            return nil
        }
        let isHierarchical = match.2.hasPrefix("//")
        guard isHierarchical ? match.2.count > 2 : !match.2.isEmpty else { return nil }
        let isComplete = text.hasSuffix("/") || !isHierarchical && text.hasSuffix(":")
        self.text = isComplete ? text : text + "/"
    }

    func id(of path: String) -> String { text + Self.percentEncoded(path) }

    /// The text with characters outside ASCII percent-encoded.
    static func percentEncoded(_ text: String) -> String {
        let hexadecimal = Array("0123456789ABCDEF")
        return text.utf8.reduce(into: "") { result, byte in
            let scalar = Unicode.Scalar(byte)
            if scalar.isASCII, scalar.properties.isAlphabetic || "0123456789-._~/".unicodeScalars.contains(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                result += "%" + String(hexadecimal[Int(byte >> 4)]) + String(hexadecimal[Int(byte & 15)])
            }
        }
    }
}
