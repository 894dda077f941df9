import Hashing

/// The JSON Schema of what a sender may send, as `GET /v1/plan` answers with it.
package struct PlanDocument: Sendable {
    /// The document's text.
    package let body: [UInt8]
    /// The entity tag (RFC 9110, section 8.8.3): the SHA-256 digest of the text, in quotes.
    package let tag: String

    package init(_ text: String) {
        body = Array(text.utf8)
        tag = "\"\(SHA256Digest(of: body).hexadecimal)\""
    }

    /// Whether one of the values of `If-None-Match` says that the sender has this document (RFC 9110, section 13.1.2).
    package func isKnown(by values: [String]) -> Bool {
        values.contains { value in
            value.utf8.split(separator: UInt8(ascii: ",")).contains { part in
                let part = part.trimmingSpace
                let named = part.starts(with: "W/".utf8) ? part.dropFirst(2) : part
                return named.elementsEqual(tag.utf8) || named.elementsEqual("*".utf8)
            }
        }
    }
}

/// A document, or that it exceeds the limit on its size.
package typealias PlanOutcome = Result<PlanDocument, PlanTooLarge>

/// A document exceeds the limit on its size.
package struct PlanTooLarge: Error {
    package init() {}
}
