import EventModel
import NIOCore

/// Encodes HTTP responses, each with its header and body in one buffer.
enum AnswerEncoder {
    /// What a response says about the connection.
    enum Persistence {
        /// Nothing, because in HTTP/1.1 it stays open by default.
        case implied
        /// That it stays open, which HTTP/1.0 requires.
        case keepAlive
        /// That it ends.
        case close
    }

    /// `100 Continue`: the sender may send the body.
    static let goOn = ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")

    /// The body of the response to a successful health check.
    static let healthy = Array(#"{"status":"ok"}"#.utf8)

    /// Encodes a response; without its body it still has the body's length, for HEAD.
    ///
    /// - Parameter body: The body; `nil` if the status allows none.
    static func answer(
        status: StaticString,
        fields: String = "",
        body: [UInt8]?,
        persistence: Persistence,
        withoutBody: Bool = false
    ) -> ByteBuffer {
        let written = withoutBody ? 0 : body?.count ?? 0
        var buffer = ByteBufferAllocator().buffer(capacity: 192 + fields.utf8.count + written)
        buffer.writeStaticString("HTTP/1.1 ")
        buffer.writeStaticString(status)
        buffer.writeStaticString("\r\n")
        if let body {
            buffer.writeStaticString("content-type: application/json\r\ncontent-length: ")
            buffer.writeString(String(body.count))
            buffer.writeStaticString("\r\n")
        }
        buffer.writeString(fields)
        switch persistence {
        case .implied: break
        case .keepAlive: buffer.writeStaticString("connection: keep-alive\r\n")
        case .close: buffer.writeStaticString("connection: close\r\n")
        }
        buffer.writeStaticString("\r\n")
        if let body, !withoutBody { buffer.writeBytes(body) }
        return buffer
    }

    /// The maximum number of bytes of an `Origin` that is repeated in a response.
    static let maximumOriginBytes = 256

    /// The fields that let a web page of this origin read a response (CORS, https://fetch.spec.whatwg.org/#http-cors-protocol).
    ///
    /// - Parameter withCredentials: Whether the page may send cookies; some clients do, although nothing here depends on them.
    static func fields(allowing origin: String, withCredentials: Bool) -> String {
        "access-control-allow-origin: \(origin)\r\n"
            + (withCredentials ? "access-control-allow-credentials: true\r\n" : "")
            + "access-control-expose-headers: retry-after, x-ratelimit-reset\r\nvary: origin\r\n"
    }

    /// The fields of the response to a preflight request: what a web page may send.
    static let preflightFields =
        "access-control-allow-methods: GET, POST\r\n"
        + "access-control-allow-headers: authorization, content-type, content-encoding, sluice-strict, anonymousid, "
        + "ce-id, ce-source, ce-specversion, ce-type, ce-time, ce-subject, ce-dataschema, ce-datacontenttype\r\n"
        + "access-control-max-age: 7200\r\n"

    /// The maximum number of bytes of a response, its header included.
    static let maximumBytes = 256 << 10
    /// The maximum number of bytes of a response's header.
    static let maximumHeaderBytes = 1 << 10

    /// The body of a failure in Sluice's own format: `{"error":{"code":…,"message":…}}`, with `reasons` if there are any.
    static func body(of failure: Failure) -> [UInt8] {
        Array(#"{"error":{"#.utf8) + members(of: failure) + Array("}}".utf8)
    }

    /// The members that describe a failure, in each dialect: `"code":…,"message":…`, and `reasons` if there are any.
    static func members(of failure: Failure) -> [UInt8] {
        var bytes = Array(#""code":"#.utf8)
        JSONString.append(failure.code, to: &bytes)
        bytes.append(contentsOf: #","message":"#.utf8)
        JSONString.append(failure.message, to: &bytes)
        if !failure.reasons.isEmpty {
            bytes.append(contentsOf: #","reasons":["#.utf8)
            for (position, reason) in failure.reasons.enumerated() {
                if position > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONString.append(reason, to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        }
        return bytes
    }
}
