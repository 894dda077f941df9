/// Where a webhook's requests go, and what is in them.
public struct WebhookConfiguration: Sendable {
    /// The form of a request's body.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// The canonical line of each event, each with a line feed.
        case ndjson
        /// An array of the canonical lines.
        case json
        /// A batch of CloudEvents 1.0 in the JSON format; the data of each is the canonical line.
        case cloudevents
        /// One event in each request: its canonical line.
        case single
    }

    /// The method of a request.
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// POST.
        case post = "POST"
        /// PUT.
        case put = "PUT"
    }

    /// The tracker's default name.
    public static let defaultName = "webhook"

    /// The name that refers to the tracker in the plan.
    ///
    /// Default: `webhook`.
    public var name: String
    /// The receiver, and how requests get there.
    public var receiver: HTTPReceiver
    /// The form of a request's body.
    ///
    /// Default: `ndjson`.
    public var format: Format
    /// The method of a request.
    ///
    /// Default: `POST`.
    public var method: Method
    /// The `source` of CloudEvents: a URI reference for the origin of the events.
    ///
    /// Default: `sluice`.
    public var source: String
    /// The file with the secrets that sign each request as Standard Webhooks describe it, one in each line, as `whsec_` and base64; `nil`
    /// for no signature.
    ///
    /// With several secrets, a request has a signature of each, so that they can be replaced one after the other.
    public var signingKeyFile: String?

    /// Creates a configuration with the defaults of everything else.
    public init(url: String, name: String = Self.defaultName) {
        self.name = name
        receiver = HTTPReceiver(url: url)
        format = .ndjson
        method = .post
        source = "sluice"
    }
}

/// A server that gets events over HTTP, and how it is reached.
public struct HTTPReceiver: Sendable {
    /// The compression of a request's body.
    public enum Compression: String, Sendable, Hashable, CaseIterable {
        /// The body as it is.
        case none
        /// `Content-Encoding: gzip`.
        case gzip
    }

    /// The address, with `http` or `https`.
    public var url: String
    /// Further fields of each request's header, each as `Name: value`; secret ones belong in `headerFiles`.
    public var headers: [String]
    /// Fields of the header whose values are in files, each as `Name=path`.
    ///
    /// The files are read for each delivery.
    public var headerFiles: [String]
    /// The file with the token of `Authorization: Bearer`; `nil` for none.
    public var bearerTokenFile: String?
    /// The file with the user and the password of `Authorization: Basic`, as `user:password`; `nil` for none.
    public var basicAuthFile: String?
    /// The file with the certificates of the authorities that the server's certificate is verified with (PEM); `nil` for those of the system.
    public var caFile: String?
    /// The file with the client's certificate (PEM); `nil` for none.
    public var certificateFile: String?
    /// The file with the private key of the client's certificate (PEM).
    public var keyFile: String?
    /// The compression of the body.
    ///
    /// Default: none.
    public var compression: Compression
    /// The number of requests that are in progress at a time.
    ///
    /// Default: 1, so that events arrive in the order in which they were accepted. With more, at most 1,000, only the events of each user do.
    public var concurrency: Int
    /// How long connecting may take, the handshake of TLS included.
    ///
    /// Default: 10 s.
    public var connectTimeout: Duration
    /// How long a request may take, until its answer has been read.
    ///
    /// Default: 30 s.
    public var requestTimeout: Duration

    /// Creates a receiver with the defaults of everything else.
    public init(url: String) {
        self.url = url
        headers = []
        headerFiles = []
        compression = .none
        concurrency = 1
        connectTimeout = .seconds(10)
        requestTimeout = .seconds(30)
    }
}
