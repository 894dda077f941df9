package import SettingDefinitions
import SluiceHTTP

extension SettingKey {
    package static let httpListen = HTTPSettings.listen.key
    package static let httpMaxWait = HTTPSettings.maxWait.key
    package static let httpWorkers = HTTPSettings.workers.key
    package static let httpOpen = HTTPSettings.open.key
    package static let httpKeys = HTTPSettings.keys.key
    package static let tlsCertificate = HTTPSettings.certificate.key
    package static let tlsPrivateKey = HTTPSettings.privateKey.key
    static let tlsClientAuthorities = HTTPSettings.clientAuthorities.key
    fileprivate static let httpProxies = SettingKey(
        "http.proxies",
        .list,
        """
        The addresses of the proxies in front of the server, each as 10.0.0.1 or 10.0.0.0/8; in the environment \
        variable, separate them with semicolons.
        """,
        default: .none
    )
}

/// The settings of the public port.
struct HTTPSettings: Configurable {
    static let defaults = HTTPSettings()

    var port = IngestConfiguration()
    /// The file with the write keys; `nil` if it is not stated.
    var keyFile: String?
    /// The files of the server's certificate; `nil` if they are not stated.
    var certificate: String?
    var privateKey: String?
    var clientAuthorities: String?
}

extension HTTPSettings {
    fileprivate static let keys = Setting<HTTPSettings>.text(
        "http.keys",
        \.keyFile,
        default: .value(Settings.defaultKeyFile),
        option: "--keys",
        "The file with the digests of the write keys, which `sluice keys` makes."
    )
    fileprivate static let certificate = Setting<HTTPSettings>.text(
        "http.tls.certificate",
        \.certificate,
        option: "--certificate",
        "The file with the server's certificate and those of its authorities (PEM), for HTTPS; read again when it changes."
    )
    fileprivate static let privateKey = Setting<HTTPSettings>.text(
        "http.tls.privateKey",
        \.privateKey,
        option: "--private-key",
        "The file with the private key of the certificate (PEM)."
    )
    fileprivate static let clientAuthorities = Setting<HTTPSettings>.text(
        "http.tls.clientAuthorities",
        \.clientAuthorities,
        """
        The file with the CA certificates for client authentication (PEM). If it is set, clients must present a \
        certificate signed by one of them.
        """
    )
    fileprivate static let listen = Setting<HTTPSettings>.address(
        "http.listen",
        host: \.port.host,
        port: \.port.port,
        option: "--listen",
        "The address to accept events on over HTTP, as host:port."
    )
    fileprivate static let open = Setting<HTTPSettings>.flag(
        "http.open",
        \.port.isOpen,
        option: "--open",
        """
        Whether anyone who reaches the address may send events, without a key and from any web page: for servers behind \
        a proxy that checks senders.
        """
    )
    fileprivate static let maxWait = Setting<HTTPSettings>.duration(
        "http.maxWaitSeconds",
        \.port.maxWait,
        option: "--max-wait",
        """
        How long a request waits, in seconds, for room in a full queue or for the journal's disk, before it is answered \
        with 503 or 504.
        """
    )
    fileprivate static let workers = Setting<HTTPSettings>.count(
        "http.workers",
        \.port.eventLoopCount,
        option: "--workers",
        default: "one for each processor core",
        "The number of event loops, each with its own thread."
    )
    private static let timeout = 1...86_400

    static let all: [Setting<HTTPSettings>] = [
        listen,
        keys,
        open,
        maxWait,
        .duration(
            "http.timeouts.headSeconds",
            \.port.timeouts.head,
            within: timeout,
            """
            How long the header of a request may take to arrive, in seconds; also the limit for a TLS handshake, and for the \
            header of a proxy.
            """
        ),
        .duration(
            "http.timeouts.bodySeconds",
            \.port.timeouts.body,
            within: timeout,
            "How long a body may take to arrive, in seconds."
        ),
        .duration(
            "http.timeouts.bodyPauseSeconds",
            \.port.timeouts.bodyPause,
            within: timeout,
            "How long the pause between two pieces of a body may be, in seconds."
        ),
        .duration(
            "http.timeouts.idleSeconds",
            \.port.timeouts.idle,
            within: timeout,
            "How long a connection may stay open without a request, in seconds."
        ),
        .duration(
            "http.timeouts.answerSeconds",
            \.port.timeouts.answer,
            within: timeout,
            "How long a sender may leave an answer unread, in seconds."
        ),
        .duration(
            "http.timeouts.drainSeconds",
            \.port.drainTimeout,
            within: 0...86_400,
            "How long requests in progress may take to finish at a shutdown, in seconds."
        ),
        workers,
        Setting(.httpProxies) { values, http in
            http.port.proxies = (values.texts(.httpProxies) ?? []).compactMap { text in
                let range = NetworkRange(text)
                if range == nil {
                    values.note(.httpProxies, "expected an address, or a range such as 10.0.0.0/8, found '\(text)'")
                }
                return range
            }
        },
        .flag(
            "http.proxyProtocol",
            \.port.expectsProxyHeader,
            "Whether each connection of http.proxies begins with a header of the PROXY protocol, version 2."
        ),
        .flag(
            "http.recordClientAddress",
            \.port.recordsClientAddress,
            "Whether the sender's address becomes `ip` in the context of each event that has no `ip`."
        ),
        .flag(
            "http.recordTraceparent",
            \.port.recordsTraceparent,
            """
            Whether the `traceparent` header of a request (W3C Trace Context) is added to the context of each event that has \
            none, and whether Kafka trackers send an event's `traceparent` as a message header.
            """
        ),
        certificate,
        privateKey,
        clientAuthorities,
        .text(
            "http.cloudEvents.typePrefix",
            \.port.cloudEvents.typePrefix,
            "What is removed from the beginning of a CloudEvent's `type`; the rest is the event's name."
        ),
        .flag(
            "http.cloudEvents.subjectIsUserId",
            \.port.cloudEvents.subjectIsUserID,
            "Whether the `subject` of a CloudEvent is the event's userId."
        ),
        .count(
            "http.maximumConnections",
            \.port.maximumConnections,
            default: "derived from http.maximumBufferedBytes and the limit on open files",
            "The maximum number of open connections and HTTP/2 streams; further ones are answered with 503."
        ),
        .count(
            "http.maximumConnectionsPerAddress",
            \.port.maximumConnectionsPerAddress,
            default: "half of http.maximumConnections",
            "The maximum number of open connections and HTTP/2 streams from one address; further ones are answered with 503."
        ),
        .count(
            "http.maximumConnectionsPerKey",
            \.port.maximumConnectionsPerKey,
            default: "half of http.maximumConnections",
            """
            The maximum number of open connections and HTTP/2 streams of one write key. A connection counts for the key of its \
            most recent request. Further ones are answered with 503.
            """
        ),
        .count(
            "http.maximumRequestsPerConnection",
            \.port.maximumRequestsPerConnection,
            "After this many requests, the server closes an HTTP/1.1 connection."
        ),
        .count(
            "http.http2.maximumStreams",
            \.port.http2.maximumStreams,
            "The maximum number of requests of an HTTP/2 connection at one time."
        ),
        .count(
            "http.maximumHeaderBytes",
            \.port.maximumHeaderBytes,
            "The maximum size of a request's target and header, in bytes."
        ),
        .count(
            "http.maximumBodyBytes",
            \.port.maximumBodyBytes,
            "The maximum size of a body, in bytes, both as sent and inflated."
        ),
        .count("http.maximumEvents", \.port.maximumEvents, "The maximum number of events in one body."),
        .count(
            "http.maximumRejections",
            \.port.maximumRejections,
            """
            The maximum number of rejected events in one body; with more, the whole body is refused, or they are only counted \
            (Segment, RudderStack, PostHog).
            """
        ),
        .count("http.maximumAnswerBytes", \.port.maximumAnswerBytes, "The maximum size of an answer, in bytes."),
        .count(
            "http.maximumPlanBytes",
            \.port.maximumPlanBytes,
            "The maximum size of a JSON Schema that GET /v1/plan answers with, in bytes."
        ),
        .count(
            "http.maximumBufferedBytes",
            \.port.maximumBufferedBytes,
            "The maximum memory, in bytes, of all connections together, with their bodies and the answers not yet read."
        ),
    ]
}
