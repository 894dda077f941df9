import EventModel
import EventValidation
package import NIOHTTP1

/// The parts of a request's header that matter to the server.
package struct RequestHead {
    /// How to handle a request.
    enum Disposition {
        /// Receive its body, and the events in it.
        case receive(BodyLanguage, isGzip: Bool)
        /// Answer with the settings of a client.
        case settings(ClientSettings)
        /// Answer with the JSON Schema of what the sender may send.
        case plan(PlanDocuments)
        /// Answer that browsers may send from the origin (a CORS preflight request).
        case preflight
        /// Answer that the process runs.
        case live
        /// Answer whether events are accepted.
        case ready
        /// Refuse it.
        case refuse(Failure)
    }

    private(set) var route: Route?
    let method: HTTPMethod
    let version: HTTPVersion
    /// Whether the sender wants to use the connection again.
    private(set) var keepsAlive: Bool
    /// The announced size of the body; `nil` if there is none.
    private(set) var contentLength: Int?
    /// Whether the body is chunked.
    private(set) var isChunked = false
    /// Whether the sender waits for `100 Continue` before it sends the body.
    private(set) var expectsContinue = false

    /// The web page that sends, if a browser says so.
    private(set) var origin: String?
    /// The values of the fields `Access-Control-Request-Headers`.
    private(set) var requestedFieldNames: [String] = []
    /// The values of the fields `X-Forwarded-For`.
    private(set) var forwardedFor: [String] = []
    /// The valid value of `traceparent`; `nil` if there is none, or more than one.
    var traceparent: String? {
        guard traceparents.count == 1, TraceParent.isValid(Array(traceparents[0].utf8)) else { return nil }
        return traceparents[0]
    }
    /// The values of the fields `traceparent`.
    private var traceparents: [String] = []
    /// The server's host as the sender knows it.
    private(set) var host: String?

    private let uri: String
    private var authorization: String?
    private(set) var isStrict: Bool? = false
    private var isPreflight = false
    private var failure: Failure?
    private var mediaType: MediaType? = .json
    /// The attributes of a CloudEvent in binary mode.
    private var cloudEventHeaders: [CloudEventHeader] = []
    private var isGzip: Bool? = false
    /// The values of `If-None-Match`.
    private(set) var knownTags: [String] = []
    private var hostCount = 0
    private var contentTypeCount = 0
    private var contentEncodingCount = 0

    /// Reads a header that the decoder accepted.
    package init(_ head: HTTPRequestHead) {
        uri = head.uri
        route = Route(uri: uri)
        method = head.method
        version = head.version
        keepsAlive = head.isKeepAlive && head.method != .CONNECT
        for (name, value) in head.headers {
            note(name.utf8, value)
        }
        judgeFraming()
    }

    /// Whether the request is HTTP/1.0, in which a connection stays open only if both sides ask for it.
    var isVersion10: Bool { version == .http1_0 }

    /// How to handle the request with the limits and settings of a server.
    func disposition(in server: IngestContext, plan: PlanDocuments?) -> Disposition {
        if let failure { return .refuse(failure) }
        switch route {
        case nil: return .refuse(.notFound)
        case .livez: return method == .GET || method == .HEAD ? .live : .refuse(.methodNotAllowed(allow: "GET, HEAD"))
        case .readyz: return method == .GET || method == .HEAD ? .ready : .refuse(.methodNotAllowed(allow: "GET, HEAD"))
        case .plan where plan == nil: return .refuse(.notFound)
        case .events, .validate, .plan, .dialect, .settings: break
        }
        if method == .OPTIONS, isPreflight { return .preflight }
        if case .settings(let settings) = route {
            return method == .GET ? .settings(settings) : .refuse(.methodNotAllowed(allow: "GET"))
        }
        if case .plan = route, let plan {
            return method == .GET || method == .HEAD ? .plan(plan) : .refuse(.methodNotAllowed(allow: "GET, HEAD"))
        }
        guard case .POST = method else { return .refuse(.methodNotAllowed(allow: "POST")) }
        guard let language = language(cloudEvents: server.cloudEvents), contentTypeCount < 2 else {
            if case .dialect = route { return .refuse(.unsupportedMediaTypeOfDialect) }
            return .refuse(.unsupportedMediaType)
        }
        guard let isGzip, contentEncodingCount < 2 else { return .refuse(.unsupportedEncoding) }
        guard isStrict != nil else { return .refuse(.invalidStrict) }
        if let contentLength, contentLength > server.maximumBodyBytes {
            return .refuse(.tooLarge(limit: server.maximumBodyBytes))
        }
        return .receive(language, isGzip: isGzip)
    }

    /// The key in the header; `nil` if there is none.
    var key: [UInt8]? {
        if let key = authorization.flatMap(Credential.key(ofAuthorization:)) { return key }
        let parameter: StaticString?
        switch route {
        case .events, .validate, .plan: parameter = "key"
        case .dialect(let dialect): parameter = dialect.keyParameter
        case .settings: parameter = "writeKey"
        case .livez, .readyz, nil: parameter = nil
        }
        return parameter.flatMap { Credential.parameter($0, of: Route.query(of: uri.utf8[...])) }
    }

    /// What the body is written in; `nil` if the endpoint does not accept its `Content-Type`.
    private func language(cloudEvents: IngestConfiguration.CloudEvents) -> BodyLanguage? {
        if case .dialect(let dialect) = route {
            switch mediaType {
            case .json, .lines, .text: return .dialect(dialect)
            case .form: return dialect.acceptsForms ? .dialect(dialect) : nil
            case .cloudEvent, .cloudEvents, nil: return nil
            }
        }
        if mediaType == .cloudEvent { return .dialect(CloudEventsEndpoint(mode: .structured, mapping: cloudEvents)) }
        if mediaType == .cloudEvents { return .dialect(CloudEventsEndpoint(mode: .batched, mapping: cloudEvents)) }
        if !cloudEventHeaders.isEmpty {
            guard mediaType == .json else { return nil }
            return .dialect(CloudEventsEndpoint(mode: .binary(cloudEventHeaders), mapping: cloudEvents))
        }
        switch mediaType {
        // Web pages send plain text to another origin without a CORS preflight request.
        case .json, .text: return .sluice(.document)
        case .lines: return .sluice(.lines)
        case .form, .cloudEvent, .cloudEvents, nil: return nil
        }
    }

    // The length of the name distinguishes nearly all fields, so few names are compared.
    private mutating func note(_ name: String.UTF8View, _ value: String) {
        switch name.count {
        case 4 where name.equalsIgnoringCase("host"):
            hostCount += 1
            host = value
        case 6 where name.equalsIgnoringCase("origin"):
            origin = value
        case 6 where name.equalsIgnoringCase("expect"):
            if value.utf8.trimmingSpace.equalsIgnoringCase("100-continue") {
                expectsContinue = true
            } else {
                failure = .unknownExpectation
            }
        case 7 where name.equalsIgnoringCase("upgrade"):
            // No other protocol is supported, and the decoder stops reading after a request for an upgrade.
            keepsAlive = false
        case 11 where name.equalsIgnoringCase("traceparent"):
            traceparents.append(value)
        case 12 where name.equalsIgnoringCase("content-type"):
            contentTypeCount += 1
            mediaType = MediaType(value)
        case 13 where name.equalsIgnoringCase("sluice-strict"):
            let text = value.utf8.trimmingSpace
            isStrict = text.equalsIgnoringCase("true") ? true : text.equalsIgnoringCase("false") ? false : nil
        case 13 where name.equalsIgnoringCase("authorization"):
            authorization = value
        case 13 where name.equalsIgnoringCase("if-none-match"):
            knownTags.append(value)
        case 14 where name.equalsIgnoringCase("content-length"):
            noteContentLength(value)
        case 15 where name.equalsIgnoringCase("x-forwarded-for"):
            forwardedFor.append(value)
        case 16 where name.equalsIgnoringCase("content-encoding"):
            contentEncodingCount += 1
            isGzip = ContentCoding.isGzip(value)
        case 17 where name.equalsIgnoringCase("transfer-encoding"):
            if isChunked || !value.utf8.trimmingSpace.equalsIgnoringCase("chunked") { failure = .unknownTransferCoding }
            isChunked = true
        case 29 where name.equalsIgnoringCase("access-control-request-method"):
            isPreflight = true
        case 30 where name.equalsIgnoringCase("access-control-request-headers"):
            requestedFieldNames.append(value)
        default:
            if case .dialect(var dialect) = route {
                dialect.note(name, value)
                route = .dialect(dialect)
            } else if let header = CloudEventHeader(name, value) {
                cloudEventHeaders.append(header)
            }
        }
    }

    private mutating func noteContentLength(_ value: String) {
        var length = 0
        let digits = value.utf8.trimmingSpace
        guard contentLength == nil, !digits.isEmpty else { return failure = .badRequest }
        for byte in digits {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return failure = .badRequest }
            // Larger numbers exceed every limit, and might overflow.
            if length < Int.max / 100 { length = length * 10 + Int(byte - UInt8(ascii: "0")) }
        }
        contentLength = length
    }

    // Prevents request smuggling: the end of a request must be unambiguous (RFC 9112, sections 6.1 and 11.2).
    private mutating func judgeFraming() {
        if isChunked, contentLength != nil || isVersion10 { failure = .badRequest }
        if hostCount > 1 || (hostCount == 0 && !isVersion10) { failure = .badRequest }
        // In HTTP/2 the length of a body need not be announced.
        let hasNoBody = contentLength == 0 || (!isChunked && contentLength == nil && version.major == 1)
        if isVersion10 || hasNoBody { expectsContinue = false }
    }
}

/// Interprets the `Content-Encoding` of a body.
private enum ContentCoding {
    /// Whether a `Content-Encoding` is gzip; `nil` if it is another encoding.
    static func isGzip(_ contentEncoding: String) -> Bool? {
        let coding = contentEncoding.utf8.trimmingSpace
        if coding.equalsIgnoringCase("gzip") || coding.equalsIgnoringCase("x-gzip") { return true }
        return coding.isEmpty || coding.equalsIgnoringCase("identity") ? false : nil
    }
}
