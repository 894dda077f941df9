/// What the server knows of a request, and adds to the `context` of each of its events that does not state it.
///
/// A plan treats these keys like all others of the context.
package struct ContextAdditions: Sendable, Hashable {
    /// The sender's address, which becomes `ip`; empty if it is not recorded.
    package var clientAddress: [UInt8]
    /// The valid `traceparent` of the request, which becomes the key of the same name; empty if there is none, or if it is not recorded.
    package var traceparent: [UInt8]

    package init(clientAddress: [UInt8] = [], traceparent: [UInt8] = []) {
        self.clientAddress = clientAddress
        self.traceparent = traceparent
    }

    var isEmpty: Bool { clientAddress.isEmpty && traceparent.isEmpty }
}
