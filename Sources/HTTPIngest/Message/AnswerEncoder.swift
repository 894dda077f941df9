import EventPipeline
import NIOCore

/// Writes whole answers, header and body, into one buffer each.
enum AnswerEncoder {
    /// What an answer says about the connection.
    enum Persistence {
        /// Nothing, for in HTTP/1.1 it stays open.
        case implied
        /// That it stays open, which HTTP/1.0 wants to hear.
        case keepAlive
        /// That it ends.
        case close
    }

    /// `100 Continue`: the body may come.
    static let goOn = ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")

    /// The body of an answer to a healthy check.
    static let healthy = Array(#"{"status":"ok"}"#.utf8)

    /// Writes an answer; without its body it still tells the body's length, as HEAD wants.
    static func answer(
        status: StaticString,
        fields: String = "",
        body: [UInt8],
        persistence: Persistence,
        withoutBody: Bool = false
    ) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: 192 + fields.utf8.count + (withoutBody ? 0 : body.count))
        buffer.writeStaticString("HTTP/1.1 ")
        buffer.writeStaticString(status)
        buffer.writeStaticString("\r\ncontent-type: application/json\r\ncontent-length: ")
        buffer.writeString(String(body.count))
        buffer.writeStaticString("\r\n")
        buffer.writeString(fields)
        switch persistence {
        case .implied: break
        case .keepAlive: buffer.writeStaticString("connection: keep-alive\r\n")
        case .close: buffer.writeStaticString("connection: close\r\n")
        }
        buffer.writeStaticString("\r\n")
        if !withoutBody { buffer.writeBytes(body) }
        return buffer
    }

    /// The body that tells what became of each event: `{"accepted":N,"rejected":[…]}`.
    static func verdicts(accepted: Int, rejections: [Rejection]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64 + rejections.count * 256)
        bytes.append(contentsOf: #"{"accepted":"#.utf8)
        bytes.append(contentsOf: String(accepted).utf8)
        bytes.append(contentsOf: #","rejected":["#.utf8)
        for (position, rejection) in rejections.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            append(rejection, to: &bytes)
        }
        bytes.append(contentsOf: "]}".utf8)
        return bytes
    }

    /// The body of a failure: `{"error":{"code":…,"message":…}}`.
    static func body(of failure: Failure) -> [UInt8] {
        error(code: failure.code, message: failure.message)
    }

    /// The body for a body that is refused as a whole; it has the shape of any failure.
    static func body(of malformed: MalformedBody) -> [UInt8] {
        let violation = malformed.violation
        return error(
            code: violation.code.rawValue,
            message: "The body is refused as a whole: expected \(violation.expected), found \(violation.found)."
        )
    }

    private static func append(_ rejection: Rejection, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: #"{"index":"#.utf8)
        bytes.append(contentsOf: String(rejection.index).utf8)
        bytes.append(contentsOf: #","id":"#.utf8)
        if let id = rejection.id {
            ViolationEncoding.appendString(id, to: &bytes)
        } else {
            bytes.append(contentsOf: "null".utf8)
        }
        bytes.append(contentsOf: #","errors":"#.utf8)
        ViolationEncoding.appendJSON(of: rejection.violations, to: &bytes)
        bytes.append(UInt8(ascii: "}"))
    }

    private static func error(code: String, message: String) -> [UInt8] {
        var bytes = Array(#"{"error":{"code":"#.utf8)
        ViolationEncoding.appendString(code, to: &bytes)
        bytes.append(contentsOf: #","message":"#.utf8)
        ViolationEncoding.appendString(message, to: &bytes)
        bytes.append(contentsOf: "}}".utf8)
        return bytes
    }
}
