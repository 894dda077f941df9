import EventValidation
import NIOHTTP1

/// What a request's header says, as far as this port cares.
struct RequestHead {
    /// The resources there are.
    enum Target {
        case events, livez, readyz, unknown
    }

    /// What is to be done with a request.
    enum Disposition {
        /// Receive its body, and take the events in it.
        case receive(BodyFormat, isGzip: Bool)
        /// Say that the process is there.
        case live
        /// Say whether events would be taken.
        case ready
        /// Say what is wrong with it.
        case refuse(Failure)
    }

    let target: Target
    let method: HTTPMethod
    let version: HTTPVersion
    /// Whether the sender wants to use the connection again.
    private(set) var keepsAlive: Bool
    /// How many bytes of body were announced; `nil` where no number was.
    private(set) var contentLength: Int?
    /// Whether the body comes in chunks.
    private(set) var isChunked = false
    /// Whether the sender holds the body back until it is told to go on.
    private(set) var expectsContinue = false

    private var failure: Failure?
    private var format: BodyFormat? = .document
    private var isGzip: Bool? = false
    private var hostCount = 0
    private var contentTypeCount = 0
    private var contentEncodingCount = 0

    /// Reads a header that the codec has accepted.
    init(_ head: HTTPRequestHead) {
        target = Self.target(of: head.uri)
        method = head.method
        version = head.version
        keepsAlive = head.isKeepAlive && head.method != .CONNECT
        for (name, value) in head.headers {
            note(name.utf8, value)
        }
        judgeFraming()
    }

    /// Whether the exchange is in HTTP/1.0, where a connection stays open only if both sides say so.
    var isVersion10: Bool { version.minor == 0 }

    /// What is to be done with the request, if a body may have `maximumBodyBytes`.
    func disposition(maximumBodyBytes: Int) -> Disposition {
        if let failure { return .refuse(failure) }
        switch target {
        case .unknown: return .refuse(.notFound)
        case .livez: return method == .GET || method == .HEAD ? .live : .refuse(.methodNotAllowed(allow: "GET, HEAD"))
        case .readyz: return method == .GET || method == .HEAD ? .ready : .refuse(.methodNotAllowed(allow: "GET, HEAD"))
        case .events: break
        }
        guard case .POST = method else { return .refuse(.methodNotAllowed(allow: "POST")) }
        guard let format, contentTypeCount < 2 else { return .refuse(.unsupportedMediaType) }
        guard let isGzip, contentEncodingCount < 2 else { return .refuse(.unsupportedEncoding) }
        if let contentLength, contentLength > maximumBodyBytes { return .refuse(.tooLarge(limit: maximumBodyBytes)) }
        return .receive(format, isGzip: isGzip)
    }

    // The length of a name tells nearly all fields apart, so few are compared at all.
    private mutating func note(_ name: String.UTF8View, _ value: String) {
        switch name.count {
        case 4 where name.equalsIgnoringCase("host"):
            hostCount += 1
        case 6 where name.equalsIgnoringCase("expect"):
            if value.utf8.trimmingSpace.equalsIgnoringCase("100-continue") {
                expectsContinue = true
            } else {
                failure = .unknownExpectation
            }
        case 7 where name.equalsIgnoringCase("upgrade"):
            // No other protocol is spoken here, and the codec stops reading after a request that asks for one.
            keepsAlive = false
        case 12 where name.equalsIgnoringCase("content-type"):
            contentTypeCount += 1
            format = MediaType.format(of: value)
        case 14 where name.equalsIgnoringCase("content-length"):
            noteContentLength(value)
        case 16 where name.equalsIgnoringCase("content-encoding"):
            contentEncodingCount += 1
            isGzip = MediaType.isGzip(value)
        case 17 where name.equalsIgnoringCase("transfer-encoding"):
            if isChunked || !value.utf8.trimmingSpace.equalsIgnoringCase("chunked") { failure = .unknownTransferCoding }
            isChunked = true
        default:
            break
        }
    }

    private mutating func noteContentLength(_ value: String) {
        var length = 0
        let digits = value.utf8.trimmingSpace
        guard contentLength == nil, !digits.isEmpty else { return failure = .badRequest }
        for byte in digits {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return failure = .badRequest }
            // Past this every limit is passed, and the sum might not fit.
            if length < Int.max / 100 { length = length * 10 + Int(byte - UInt8(ascii: "0")) }
        }
        contentLength = length
    }

    // Two ideas of where a request ends let one be smuggled in another (RFC 9112, sections 6.1 and 11.2).
    private mutating func judgeFraming() {
        if isChunked, contentLength != nil || isVersion10 { failure = .badRequest }
        if hostCount > 1 || (hostCount == 0 && !isVersion10) { failure = .badRequest }
        if isVersion10 || (!isChunked && (contentLength ?? 0) == 0) { expectsContinue = false }
    }

    private static func target(of uri: String) -> Target {
        if uri == "/v1/events" { return .events }
        let path = path(of: uri.utf8[...])
        if path.elementsEqual("/v1/events".utf8) { return .events }
        if path.elementsEqual("/livez".utf8) { return .livez }
        return path.elementsEqual("/readyz".utf8) ? .readyz : .unknown
    }

    // Every server takes the absolute form (RFC 9112, section 3.2.2); a query changes nothing here.
    private static func path(of uri: Substring.UTF8View) -> Substring.UTF8View {
        let path = uri.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        if path.prefix(7).equalsIgnoringCase("http://") { return path.dropFirst(7).drop { $0 != UInt8(ascii: "/") } }
        if path.prefix(8).equalsIgnoringCase("https://") { return path.dropFirst(8).drop { $0 != UInt8(ascii: "/") } }
        return path
    }
}
