import EventModel
import EventValidation
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

    /// An answer takes at most so many bytes, its header included.
    static let maximumBytes = 256 << 10
    /// An answer's header takes at most so many of them.
    static let maximumHeaderBytes = 1 << 10

    /// The body of the answer to one event that was accepted.
    static let acceptedOne = #"{"accepted":1,"rejected":[]}"#

    /// The body that tells what became of the events of a body.
    ///
    /// `{"accepted":N,"rejected":[…]}`, and where events were rejected also how many (`rejectedCount`), which
    /// (`rejectedIndexes`, pairs of the first and the last index of a range) and why (`rejectedCodes`, the number of events
    /// for each code, an event counting for its first). `rejected` explains the first of them, as far as they were
    /// explained and fit into `maximumBytes`.
    static func verdicts(of body: CheckedBody) -> [UInt8] {
        var bytes = Array(#"{"accepted":\#(body.batch?.count ?? 0),"rejected":["#.utf8)
        guard body.rejected.count > 0 else { return bytes + Array("]}".utf8) }
        let summary = summary(of: body.rejected)
        let room = maximumBytes - maximumHeaderBytes - summary.count
        bytes.reserveCapacity(64 + body.explainedCount * 256 + summary.count)
        for (position, rejection) in body.rejections.prefix(body.explainedCount).enumerated() {
            let end = bytes.count
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            append(rejection, to: &bytes)
            guard bytes.count <= room else {
                bytes.removeLast(bytes.count - end)
                break
            }
        }
        return bytes + summary
    }

    /// What is said of all rejected events together: the rest of the body, from the end of `rejected`.
    ///
    /// With `HTTPIngestConfiguration.greatestMaximumRejections` events it takes at most 240 KiB.
    private static func summary(of rejected: RejectionTally) -> [UInt8] {
        var bytes = Array(#"],"rejectedCount":\#(rejected.count),"rejectedIndexes":["#.utf8)
        bytes.reserveCapacity(bytes.count + rejected.indexes.count * 16 + rejected.codes.count * 32)
        for (position, range) in rejected.indexes.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: "[\(range.lowerBound),\(range.upperBound)]".utf8)
        }
        bytes.append(contentsOf: #"],"rejectedCodes":{"#.utf8)
        var isFirst = true
        for code in VerdictCode.allCases {
            guard let count = rejected.codes[code] else { continue }
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            bytes.append(contentsOf: #""\#(code.rawValue)":\#(count)"#.utf8)
        }
        bytes.append(contentsOf: "}}".utf8)
        return bytes
    }

    /// The body of a failure: `{"error":{"code":…,"message":…}}`, with `reasons` where it has some.
    static func body(of failure: Failure) -> [UInt8] {
        error(code: failure.code, message: failure.message, reasons: failure.reasons)
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
            JSONString.append(id, to: &bytes)
        } else {
            bytes.append(contentsOf: "null".utf8)
        }
        bytes.append(contentsOf: #","errors":"#.utf8)
        rejection.violations.appendJSON(to: &bytes)
        bytes.append(UInt8(ascii: "}"))
    }

    private static func error(code: String, message: String, reasons: [String] = []) -> [UInt8] {
        var bytes = Array(#"{"error":{"code":"#.utf8)
        JSONString.append(code, to: &bytes)
        bytes.append(contentsOf: #","message":"#.utf8)
        JSONString.append(message, to: &bytes)
        if !reasons.isEmpty {
            bytes.append(contentsOf: #","reasons":["#.utf8)
            for (position, reason) in reasons.enumerated() {
                if position > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONString.append(reason, to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        }
        bytes.append(contentsOf: "}}".utf8)
        return bytes
    }
}
