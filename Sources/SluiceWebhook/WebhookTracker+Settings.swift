package import SettingDefinitions
package import TrackerKit

extension WebhookConfiguration: Configurable {
    package static var defaults: WebhookConfiguration { WebhookConfiguration(url: "") }
}

extension SluiceConfiguration: Configurable {
    package static var defaults: SluiceConfiguration { SluiceConfiguration(url: "") }
}

/// A configuration with a receiver, whose settings are the same for each type.
protocol ReceiverConfiguring: Configurable {
    var name: String { get set }
    var receiver: HTTPReceiver { get set }
}

extension WebhookConfiguration: ReceiverConfiguring {}
extension SluiceConfiguration: ReceiverConfiguring {}

/// The settings of a receiver, which begin with a type's name.
struct ReceiverSettings<Configuration: ReceiverConfiguring> {
    typealias Place<Value> = any WritableKeyPath<Configuration, Value> & Sendable

    let type: String
    let url: SettingKey
    let headers: SettingKey
    let headerFiles: SettingKey
    let certificateFile: SettingKey
    let keyFile: SettingKey
    let concurrency: SettingKey
    /// Whether the address may have a query.
    let allowsQuery: Bool

    init(type: String, url summary: String, allowsQuery: Bool) {
        self.type = type
        self.allowsQuery = allowsQuery
        let scope = SettingKey.Scope.tracker(type: type)
        url = SettingKey(
            "\(type).url",
            .text,
            summary,
            default: .none,
            secrecy: .partlySecret { HTTPReceiver.redacted(url: $0) },
            scope: scope
        )
        headers = SettingKey(
            "\(type).headers",
            .list,
            """
            Further fields of each request's header, each as Name: value; in the environment variable, separate them with semicolons. Secret \
            ones belong in headerFiles.
            """,
            default: .none,
            secrecy: .partlySecret { HeaderEntry.redacted($0) },
            scope: scope
        )
        headerFiles = SettingKey(
            "\(type).headerFiles",
            .list,
            "Fields of the header whose values are secret, each as Name=path of a file with the value; the files are read for each delivery.",
            default: .none,
            scope: scope
        )
        concurrency = SettingKey(
            "\(type).concurrency",
            .number,
            "The number of requests in progress at a time. With more than one, only the events of each user arrive in order.",
            default: .value("\(HTTPReceiver(url: "").concurrency)"),
            range: HTTPReceiver.concurrencyRange,
            scope: scope
        )
        certificateFile = Self.file(type, "certificateFile", "The file with the client's certificate (PEM).")
        keyFile = Self.file(type, "keyFile", "The file with the private key of the client's certificate (PEM).")
    }

    /// All of them; `credentials` are between the header and the certificates.
    func all(_ credentials: [Setting<Configuration>]) -> [Setting<Configuration>] {
        [
            Setting(url) { [url] values, configuration in
                if let text = values.text(url) { configuration.receiver.url = text }
            },
            Setting(headers) { [headers] values, configuration in
                configuration.receiver.headers = values.texts(headers) ?? []
            },
            Setting(headerFiles) { [headerFiles] values, configuration in
                configuration.receiver.headerFiles = values.texts(headerFiles) ?? []
            },
        ] + credentials + [
            path(
                Self.file(
                    type,
                    "caFile",
                    "The file with the CA certificates that the server's is verified with (PEM).",
                    "those of the system"
                ),
                \.receiver.caFile
            ),
            path(certificateFile, \.receiver.certificateFile),
            path(keyFile, \.receiver.keyFile),
            .choice(
                "\(type).compression",
                \.receiver.compression,
                scope: .tracker(type: type),
                "The compression of requests: none, or gzip."
            ),
            Setting(concurrency) { [concurrency] values, configuration in
                if let count = values.number(concurrency) { configuration.receiver.concurrency = count }
            },
            .duration(
                "\(type).timeouts.connectSeconds",
                \.receiver.connectTimeout,
                within: 1...3600,
                scope: .tracker(type: type),
                "How long connecting may take, the handshake of TLS included, in seconds."
            ),
            .duration(
                "\(type).timeouts.requestSeconds",
                \.receiver.requestTimeout,
                within: 1...3600,
                scope: .tracker(type: type),
                "How long a request may take, until its answer has been read, in seconds."
            ),
        ]
    }

    /// The path of a file.
    func path(_ key: SettingKey, _ place: Place<String?>) -> Setting<Configuration> {
        Setting(key) { values, configuration in configuration[keyPath: place] = values.text(key) }
    }

    static func file(_ type: String, _ name: String, _ summary: String, _ defaultDescription: String = "none")
        -> SettingKey
    {
        SettingKey("\(type).\(name)", .text, summary, default: .words(defaultDescription), scope: .tracker(type: type))
    }

    /// Reads the configuration of the tracker with this name, and notes what is wrong with it.
    func configuration(
        named name: String,
        from values: any SettingValues,
        _ settings: [Setting<Configuration>]
    ) -> Configuration? {
        var configuration = Configuration.reading(settings, from: values)
        configuration.name = name
        let receiver = configuration.receiver
        let fields = receiver.headers.compactMap(HeaderEntry.problem(ofField:))
        let files = receiver.headerFiles.compactMap(HeaderEntry.problem(ofFile:))
        for problem in fields { values.note(headers, problem) }
        for problem in files { values.note(headerFiles, problem) }
        guard values.text(url) != nil else { return nil }
        let problem = HTTPReceiver.problem(ofURL: receiver.url, allowsQuery: allowsQuery)
        if let problem { values.note(url, problem) }
        if (receiver.certificateFile == nil) != (receiver.keyFile == nil) {
            let key = receiver.keyFile == nil ? certificateFile : keyFile
            values.note(key, "set both \(values.name(of: certificateFile)) and \(values.name(of: keyFile))")
            return nil
        }
        return fields.isEmpty && files.isEmpty && problem == nil ? configuration : nil
    }
}

extension WebhookTracker: ConfigurableTracker {
    package static let type = WebhookConfiguration.defaultName
    private static let scope = SettingKey.Scope.tracker(type: type)
    private static let receiver = ReceiverSettings<WebhookConfiguration>(
        type: type,
        url:
            "The address of the server, with http or https. Its path and query are not printed, as they may contain a secret.",
        allowsQuery: true
    )
    package static let settings: [Setting<WebhookConfiguration>] =
        receiver.all([
            receiver.path(
                ReceiverSettings<WebhookConfiguration>.file(
                    type,
                    "bearerTokenFile",
                    "The file with the token of Authorization: Bearer; it is read for each delivery."
                ),
                \.receiver.bearerTokenFile
            ),
            receiver.path(
                ReceiverSettings<WebhookConfiguration>.file(
                    type,
                    "basicAuthFile",
                    "The file with user:password for Authorization: Basic; it is read for each delivery."
                ),
                \.receiver.basicAuthFile
            ),
            receiver.path(
                ReceiverSettings<WebhookConfiguration>.file(
                    type,
                    "signingKeyFile",
                    """
                    The file with the secrets that sign each request (Standard Webhooks), one in each line, as whsec_ and base64; it is read \
                    for each delivery.
                    """
                ),
                \.signingKeyFile
            ),
        ]) + [
            .choice(
                "webhook.format",
                \.format,
                scope: scope,
                """
                The body of a request: ndjson, the events one in each line; json, an array of them; cloudevents, a batch of CloudEvents; or \
                single, one event.
                """
            ),
            .choice("webhook.method", \.method, scope: scope, "The method of a request: POST or PUT."),
            .text("webhook.source", \.source, scope: scope, "The source of CloudEvents."),
        ]
    package static let requiresOneOf: [SettingKey] = [receiver.url]
    package static let example = (name: "partner", values: [receiver.url: "https://partner.example/events"])

    package static func configuration(named name: String, from values: any SettingValues) -> WebhookConfiguration? {
        receiver.configuration(named: name, from: values, settings)
    }

    package static func deliveryLimits(of configuration: WebhookConfiguration) -> DeliveryLimits? {
        guard configuration.format == .single else { return nil }
        return DeliveryLimits(maximumEvents: 100 * configuration.receiver.concurrency)
    }

    package static func tracker(_ configuration: WebhookConfiguration, in context: TrackerContext) -> any Tracker {
        WebhookTracker(configuration)
    }
}

extension SluiceTracker: ConfigurableTracker {
    package static let type = SluiceConfiguration.defaultName
    private static let receiver = ReceiverSettings<SluiceConfiguration>(
        type: type,
        url: "The address of the other Sluice's public port, without a path.",
        allowsQuery: false
    )
    package static let settings: [Setting<SluiceConfiguration>] = receiver.all([
        receiver.path(
            ReceiverSettings<SluiceConfiguration>.file(
                type,
                "writeKeyFile",
                "The file with the write key; it is read for each delivery."
            ),
            \.receiver.bearerTokenFile
        )
    ])
    package static let requiresOneOf: [SettingKey] = [receiver.url]
    package static let example = (name: "centre", values: [receiver.url: "https://events.example"])

    package static func configuration(named name: String, from values: any SettingValues) -> SluiceConfiguration? {
        receiver.configuration(named: name, from: values, settings)
    }

    package static func tracker(_ configuration: SluiceConfiguration, in context: TrackerContext) -> any Tracker {
        SluiceTracker(configuration)
    }
}
