package import SettingDefinitions
package import TrackerKit

extension SocketConfiguration: Configurable {
    package static var defaults: SocketConfiguration { SocketConfiguration(url: "") }
}

extension SettingKey {
    fileprivate static let socketURL = SettingKey(
        "socket.url",
        .text,
        "The receiver, as tcp://host:port or tls://host:port; an IPv6 address is in brackets.",
        default: .none,
        scope: .tracker(type: SocketTracker.type)
    )
    fileprivate static let socketFields = SettingKey(
        "socket.fields",
        .list,
        "Members that every line begins with, each as name=value, such as service=shop. A value is a text.",
        default: .none,
        secrecy: .partlySecret(SocketConfiguration.redacted),
        scope: .tracker(type: SocketTracker.type)
    )
    fileprivate static let socketFieldFiles = SettingKey(
        "socket.fieldFiles",
        .list,
        """
        Members whose values are secret, such as the token of a log service, each as name=path of a file with the value; the files are \
        read for each connection.
        """,
        default: .none,
        scope: .tracker(type: SocketTracker.type)
    )
    fileprivate static let socketCAFile = file(
        "socket.caFile",
        "A file with the certificates, in PEM, of the authorities (CA) that may sign the receiver's certificate. It is read for each connection.",
        default: .words("those that the system trusts")
    )
    fileprivate static let socketCertificateFile = file(
        "socket.certificateFile",
        "A file with the certificate, in PEM, that Sluice shows to the receiver. It is read for each connection."
    )
    fileprivate static let socketKeyFile = file(
        "socket.keyFile",
        "A file with the private key of that certificate, in PEM and without a passphrase. It is read for each connection."
    )

    private static func file(_ name: String, _ summary: String, default standard: Default = .none) -> SettingKey {
        SettingKey(name, .text, summary, default: standard, scope: .tracker(type: SocketTracker.type))
    }
}

extension SocketTracker: ConfigurableTracker {
    package static let type = SocketConfiguration.defaultName
    package static let settings: [Setting<SocketConfiguration>] = [
        Setting(.socketURL) { values, socket in socket.url = values.text(.socketURL) ?? "" },
        .choice(
            "socket.format",
            \.format,
            scope: .tracker(type: type),
            """
            What the line of an event is: canonical, its canonical form; or logstash, which begins with @timestamp, the event's time in \
            milliseconds, and @version.
            """
        ),
        Setting(.socketFields) { values, socket in socket.fields = values.texts(.socketFields) ?? [] },
        Setting(.socketFieldFiles) { values, socket in socket.fieldFiles = values.texts(.socketFieldFiles) ?? [] },
        Setting(.socketCAFile) { values, socket in socket.caFile = values.text(.socketCAFile) },
        Setting(.socketCertificateFile) { values, socket in
            socket.certificateFile = values.text(.socketCertificateFile)
        },
        Setting(.socketKeyFile) { values, socket in socket.keyFile = values.text(.socketKeyFile) },
        .duration(
            "socket.timeouts.connectSeconds",
            \.connectTimeout,
            within: 1...3600,
            scope: .tracker(type: type),
            "How long it may take to find the receiver, to connect and to agree upon TLS, in seconds."
        ),
        .duration(
            "socket.timeouts.acknowledgementSeconds",
            \.acknowledgementTimeout,
            within: 1...86_400,
            scope: .tracker(type: type),
            "How long the receiver may take to acknowledge the next bytes, in seconds; a whole delivery may take longer."
        ),
    ]
    package static let requiresOneOf: [SettingKey] = [.socketURL]
    package static let example = (
        name: "logs", values: [SettingKey.socketURL: "tls://logs.example:6514"]
    )

    package static func configuration(
        named name: String,
        from values: any SettingValues
    ) -> SocketConfiguration? {
        var socket = SocketConfiguration.reading(settings, from: values)
        guard values.text(.socketURL) != nil else { return nil }
        socket.name = name
        let problems = socket.problems
        for problem in problems {
            values.note(key(of: problem.part), problem.sentence, as: problem.code)
        }
        return problems.isEmpty ? socket : nil
    }

    package static func tracker(_ configuration: SocketConfiguration, in context: TrackerContext) -> any Tracker {
        SocketTracker(configuration, logger: context.logger)
    }

    private static func key(of part: SocketConfiguration.Part) -> SettingKey {
        switch part {
        case .url: .socketURL
        case .fields: .socketFields
        case .fieldFiles: .socketFieldFiles
        case .caFile: .socketCAFile
        case .certificateFile: .socketCertificateFile
        case .keyFile: .socketKeyFile
        }
    }
}
