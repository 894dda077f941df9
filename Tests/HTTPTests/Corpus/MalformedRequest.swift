import Testing

/// A request that is not as it should be, as raw bytes, and what the server does about it.
struct MalformedRequest: Sendable, CustomTestStringConvertible {
    /// What becomes of the connection.
    enum Connection: Sendable {
        /// The next request on it is served.
        case staysOpen
        /// It ends after the answer, and nothing after the request is read.
        case ends
    }

    let name: String
    let bytes: [UInt8]
    let status: Int
    /// The code in the answer; `nil` if the request was accepted in part or as a whole.
    let code: String?
    let connection: Connection
    /// How many events are accepted.
    let accepted: Int

    var testDescription: String { name }

    init(
        _ name: String,
        _ bytes: [UInt8],
        _ status: Int,
        _ code: String?,
        _ connection: Connection,
        accepted: Int = 0
    ) {
        self.name = name
        self.bytes = bytes
        self.status = status
        self.code = code
        self.connection = connection
        self.accepted = accepted
    }

    init(_ name: String, _ text: String, _ status: Int, _ code: String?, _ connection: Connection, accepted: Int = 0) {
        self.init(name, Array(text.utf8), status, code, connection, accepted: accepted)
    }

    /// All cases.
    static let corpus = notHTTP + lengths + chunks + fields + compressed + documents + dialects

    /// A POST with a `Content-Length`.
    static func post(_ body: [UInt8], to path: String = "/v1/events", _ fields: String = "") -> [UInt8] {
        Array("POST \(path) HTTP/1.1\r\nHost: sluice\r\nContent-Length: \(body.count)\r\n\(fields)\r\n".utf8) + body
    }

    static func post(_ body: String, to path: String = "/v1/events", _ fields: String = "") -> [UInt8] {
        post(Array(body.utf8), to: path, fields)
    }
}
