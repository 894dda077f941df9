import ServerTestSupport

/// Requests that are not HTTP, or whose end is ambiguous (request smuggling).
extension MalformedRequest {
    static let notHTTP: [MalformedRequest] = [
        ("no request line", "hello\r\n\r\n"),
        ("a method alone", "GET\r\n\r\n"),
        ("no version", "GET /livez\r\n\r\n"),
        ("HTTP/3.0", "GET /livez HTTP/3.0\r\nHost: x\r\n\r\n"),
        ("HTTP/2.0", "GET /livez HTTP/2.0\r\nHost: x\r\n\r\n"),
        ("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("a TLS handshake", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}"),
        ("a field without a colon", "GET /livez HTTP/1.1\r\nHost x\r\n\r\n"),
        ("a field without a name", "GET /livez HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n"),
        ("a space in a field's name", "GET /livez HTTP/1.1\r\nHost: x\r\nA B: y\r\n\r\n"),
        ("a space before the colon", "GET /livez HTTP/1.1\r\nHost : x\r\n\r\n"),
        ("a folded request line", "GET /livez HTTP/1.1\r\n folded\r\nHost: x\r\n\r\n"),
        ("NUL in the target", "GET /li\u{0}vez HTTP/1.1\r\nHost: x\r\n\r\n"),
        ("NUL in a value", "GET /livez HTTP/1.1\r\nHost: x\r\nA: \u{0}\r\n\r\n"),
        ("NUL in the method", "G\u{0}T /livez HTTP/1.1\r\nHost: x\r\n\r\n"),
        ("an unknown method", "BREW /livez HTTP/1.1\r\nHost: x\r\n\r\n"),
        ("a method in lower case", "get /livez HTTP/1.1\r\nHost: x\r\n\r\n"),
        ("a control character in a value", "GET /livez HTTP/1.1\r\nHost: x\r\nA: \u{8}\r\n\r\n"),
        ("a letter beyond ASCII in a name", "GET /livez HTTP/1.1\r\nHost: x\r\n\u{E9}: y\r\n\r\n"),
        ("a space in the target", "GET /li vez HTTP/1.1\r\nHost: x\r\n\r\n"),
        ("no host", "GET /livez HTTP/1.1\r\n\r\n"),
        ("two hosts", "GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        ("the same host twice", "GET /livez HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
        (
            "chunks in HTTP/1.0",
            "POST /v1/events HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n{\"name\":\"Ping\"}\r\n0\r\n\r\n"
        ),
    ].map { MalformedRequest($0.0, $0.1, 400, "bad-request", .ends) }

    /// What follows the header can be read in two ways, by its `Content-Length` and as chunks, and hides a second request.
    static let lengths: [MalformedRequest] =
        [
            ("CL.TE", "Content-Length: 15\r\nTransfer-Encoding: chunked\r\n"),
            ("TE.CL", "Transfer-Encoding: chunked\r\nContent-Length: 15\r\n"),
            ("two lengths", "Content-Length: 15\r\nContent-Length: 16\r\n"),
            ("the same length twice", "Content-Length: 15\r\nContent-Length: 15\r\n"),
            ("a list of lengths", "Content-Length: 15, 15\r\n"),
            ("a length with a plus", "Content-Length: +15\r\n"),
            ("a negative length", "Content-Length: -15\r\n"),
            ("a hexadecimal length", "Content-Length: 0xf\r\n"),
            ("a length with a space", "Content-Length: 1 5\r\n"),
            ("an empty length", "Content-Length:\r\n"),
            ("a length of 64 digits", "Content-Length: \(String(repeating: "1", count: 64))\r\n"),
            ("a space before the colon of a transfer coding", "Transfer-Encoding : chunked\r\n"),
            ("a folded transfer coding", "Transfer-Encoding:\r\n chunked\r\n"),
            ("a transfer coding after a folded field", "X: y\r\n Transfer-Encoding: chunked\r\n"),
            ("NUL in the name of a transfer coding", "Transfer-\u{0}Encoding: chunked\r\n"),
            ("a vertical tab before a transfer coding", "Transfer-Encoding: \u{B}chunked\r\n"),
            ("a transfer coding behind a bare CR", "X: y\rTransfer-Encoding: chunked\r\n"),
            ("a transfer coding behind a bare LF", "Content-Length: 15\r\nX: y\nTransfer-Encoding: chunked\r\n"),
            ("a header that ends with a bare LF", "Content-Length: 15\r\nX: y\n\n"),
            ("a length in a line that ends with a bare LF", "Content-Length: 15\n"),
            ("chunked twice in one field", "Transfer-Encoding: chunked, chunked\r\n"),
            ("chunked before another coding", "Transfer-Encoding: chunked, identity\r\n"),
            ("two fields with a transfer coding", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
        ].map { hiding($0.0, $0.1, 400, "bad-request") }
        + [
            ("gzip as a transfer coding", "Transfer-Encoding: gzip, chunked\r\n"),
            ("identity as a transfer coding", "Transfer-Encoding: identity\r\n"),
            ("an unknown transfer coding", "Transfer-Encoding: xchunked\r\n"),
            ("an empty transfer coding", "Transfer-Encoding:\r\n"),
        ].map { hiding($0.0, $0.1, 501, "unknown-transfer-coding") }

    private static func hiding(_ name: String, _ fields: String, _ status: Int, _ code: String) -> MalformedRequest {
        let body = "f\r\n\(Requests.ping)\r\n0\r\n\r\n"
        return MalformedRequest(name, Requests.head(fields: fields) + body + Requests.post(), status, code, .ends)
    }

    static let chunks: [MalformedRequest] = [
        ("a chunk's length is no number", "g\r\n"),
        ("a chunk's length is negative", "-1\r\n"),
        ("a chunk's length has a prefix", "0x3\r\nabc\r\n"),
        ("a chunk's length is empty", "\r\n"),
        ("a chunk's length overflows", "ffffffffffffffffff\r\n"),
        ("a chunk is longer than its length", "3\r\nabcd\r\n"),
        ("a chunk does not end with CRLF", "3\r\nabcXX"),
        ("a chunk's length ends with a bare LF", "3\nabc\r\n"),
        ("a chunk's length ends with a bare CR", "3\rabc\r\n"),
        ("a space after a chunk's length", "3 \r\nabc\r\n"),
        ("NUL in a chunk's extension", "3;\u{0}\r\nabc\r\n"),
    ].map {
        let text = Requests.head(fields: "Transfer-Encoding: chunked\r\n") + $0.1 + "0\r\n\r\n" + Requests.post()
        return MalformedRequest($0.0, text, 400, "bad-request", .ends)
    }
}
