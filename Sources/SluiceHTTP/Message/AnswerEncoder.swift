import EventModel
package import NIOCore
package import NIOHPACK
import NIOHTTP1
import NIOHTTP2
import PortDefinitions

/// A response as it is written to a channel.
package enum EncodedAnswer: Sendable {
    /// HTTP/1.1: the header and the body in one buffer.
    case bytes(ByteBuffer)
    /// HTTP/2: the content of a `HEADERS` frame, and of the `DATA` frames that follow, if there is a body.
    case frames(HPACKHeaders, ByteBuffer?)

    /// Its approximate size in memory.
    var byteCount: Int {
        switch self {
        case .bytes(let buffer): buffer.readableBytes
        case .frames(_, let body): (body?.readableBytes ?? 0) + AnswerEncoder.maximumHeaderBytes
        }
    }
}

extension EncodedAnswer {
    /// Writes the response; a stream ends with it, unless it is informational.
    func write(to context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        typealias Frame = HTTP2Frame.FramePayload
        switch self {
        case .bytes(let bytes):
            context.write(NIOAny(bytes), promise: promise)
        case .frames(let header, let body?):
            context.write(NIOAny(Frame.headers(.init(headers: header))), promise: nil)
            context.write(NIOAny(Frame.data(.init(data: .byteBuffer(body), endStream: true))), promise: promise)
        case .frames(let header, nil):
            let isInformational = header.first(name: ":status")?.first == "1"
            context.write(
                NIOAny(Frame.headers(.init(headers: header, endStream: !isInformational))),
                promise: promise
            )
        }
    }
}

/// Encodes HTTP responses.
enum AnswerEncoder {
    /// What a response says about an HTTP/1.1 connection.
    enum Persistence {
        /// Nothing, because it stays open by default.
        case implied
        /// That it stays open, which HTTP/1.0 requires.
        case keepAlive
        /// That it ends.
        case close
    }

    /// `100 Continue`: the sender may send the body.
    static func goOn(in version: ConnectionVersion) -> EncodedAnswer {
        switch version {
        case .http1: .bytes(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))
        case .http2: .frames([":status": "100"], nil)
        }
    }

    /// The body of the response to a successful health check.
    static let healthy = Array(#"{"status":"ok"}"#.utf8)

    /// Encodes a response; without its body it still has the body's length, for HEAD.
    static func encode(
        _ answer: Answer,
        for version: ConnectionVersion,
        persistence: Persistence = .implied,
        withoutBody: Bool = false
    ) -> EncodedAnswer {
        switch version {
        case .http1: .bytes(bytes(of: answer, persistence, withoutBody))
        case .http2: .frames(header(of: answer), withoutBody ? nil : answer.body.map { ByteBuffer(bytes: $0) })
        }
    }

    private static func bytes(of answer: Answer, _ persistence: Persistence, _ withoutBody: Bool) -> ByteBuffer {
        let written = withoutBody ? 0 : answer.body?.count ?? 0
        var buffer = ByteBufferAllocator().buffer(capacity: 256 + written)
        buffer.writeStaticString("HTTP/1.1 ")
        buffer.writeStaticString(answer.status)
        buffer.writeStaticString("\r\n")
        if let body = answer.body {
            buffer.writeStaticString("content-type: ")
            buffer.writeStaticString(answer.contentType)
            buffer.writeStaticString("\r\ncontent-length: ")
            buffer.writeString(String(body.count))
            buffer.writeStaticString("\r\n")
        }
        for (name, value) in answer.fields {
            buffer.writeString(name)
            buffer.writeStaticString(": ")
            buffer.writeString(value)
            buffer.writeStaticString("\r\n")
        }
        switch persistence {
        case .implied: break
        case .keepAlive: buffer.writeStaticString("connection: keep-alive\r\n")
        case .close: buffer.writeStaticString("connection: close\r\n")
        }
        buffer.writeStaticString("\r\n")
        if let body = answer.body, !withoutBody { buffer.writeBytes(body) }
        return buffer
    }

    private static func header(of answer: Answer) -> HPACKHeaders {
        // A status begins with its three digits.
        let code = String(decoding: UnsafeBufferPointer(start: answer.status.utf8Start, count: 3), as: UTF8.self)
        var header: HPACKHeaders = [":status": code]
        if let body = answer.body {
            header.add(name: "content-type", value: answer.contentType.description)
            header.add(name: "content-length", value: String(body.count))
        }
        for (name, value) in answer.fields { header.add(name: name, value: value) }
        return header
    }

    /// The maximum number of bytes of an `Origin` that is repeated in a response.
    static let maximumOriginBytes = 256

    /// The fields that let a web page of this origin read a response (CORS, https://fetch.spec.whatwg.org/#http-cors-protocol).
    ///
    /// With `withCredentials`, the page may send cookies; some clients do, although nothing here depends on them.
    static func fields(allowing origin: String, withCredentials: Bool) -> HTTPHeaders {
        var fields: HTTPHeaders = [
            "access-control-allow-origin": origin,
            "access-control-expose-headers": "etag, retry-after, sluice-acknowledged, x-ratelimit-reset",
            "vary": "origin",
        ]
        if withCredentials { fields.add(name: "access-control-allow-credentials", value: "true") }
        return fields
    }

    /// The maximum number of bytes of the names of header fields that are repeated in the response to a preflight request.
    static let maximumRequestedNameBytes = 1 << 10

    /// The fields of the response to a preflight request: what a web page may send.
    ///
    /// A page may send any header field, since SDKs add names of their own with each version: no field gives access except
    /// `authorization`, which needs a key. If the names that it asks for are invalid or too long, the response lists those that need
    /// no SDK.
    ///
    /// `requested` has the values of `Access-Control-Request-Headers`.
    static func preflightFields(for requested: [String]) -> HTTPHeaders {
        [
            "access-control-allow-methods": "GET, POST",
            "access-control-allow-headers": fieldNames(requested) ?? usualFieldNames,
            "access-control-max-age": "7200",
        ]
    }

    private static let usualFieldNames = """
        authorization, content-type, content-encoding, if-none-match, sluice-strict, anonymousid, ce-id, ce-source, \
        ce-specversion, ce-type, ce-time, ce-subject, ce-dataschema, ce-datacontenttype, traceparent
        """

    /// The names of a list of header fields, separated by commas; `nil` if there are none, or one is invalid, or all are too long.
    private static func fieldNames(_ values: [String]) -> String? {
        let lists = values.joined(separator: ",")
        guard lists.utf8.count <= maximumRequestedNameBytes else { return nil }
        let parts = lists.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        let names = parts.map(\.trimmingSpace)
        guard names.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isTokenCharacter) }) else { return nil }
        return names.map { String(Substring($0)) }.joined(separator: ",")
    }

    /// Whether the name of a header field may contain the byte (RFC 9110, section 5.6.2).
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// The maximum number of bytes of one index in a response.
    static let bytesPerIndex = 24
    /// The maximum number of bytes of a response that explains no rejection, without the indexes.
    static let bytesBesidesIndexes = 16 << 10
    /// The maximum number of bytes of a response's header, except to a preflight request.
    static let maximumHeaderBytes = 1 << 10

    /// The maximum number of bytes of a failure in each dialect.
    static let maximumFailureBytes = 1 << 10

    /// The body of a failure in Sluice's own format: `{"error":{"code":…,"message":…}}`.
    static func body(of failure: Failure) -> [UInt8] {
        Array(#"{"error":{"#.utf8) + members(of: failure) + Array("}}".utf8)
    }

    /// The members that describe a failure, in each dialect: `"code":…,"message":…`.
    static func members(of failure: Failure) -> [UInt8] {
        var bytes = Array(#""code":"#.utf8)
        JSONString.append(failure.code.rawValue, to: &bytes)
        bytes.append(contentsOf: #","message":"#.utf8)
        JSONString.append(failure.message, to: &bytes)
        return bytes
    }
}
