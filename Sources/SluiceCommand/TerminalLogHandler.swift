import Logging

/// Logs to standard error, where a log may quote what came from outside: it is escaped like all that a command prints.
struct TerminalLogHandler: LogHandler {
    private var output: StreamLogHandler

    init(label: String) {
        output = .standardError(label: label)
    }

    var logLevel: Logger.Level {
        get { output.logLevel }
        set { output.logLevel = newValue }
    }

    var metadata: Logger.Metadata {
        get { output.metadata }
        set { output.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { output[metadataKey: key] }
        set { output[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        var event = event
        event.message = Logger.Message(stringLiteral: Self.escaped(event.message.description))
        event.metadata = event.metadata?.mapValues { .string(Self.escaped($0.description)) }
        output.log(event: event)
    }

    private static func escaped(_ text: String) -> String { TerminalText(escaping: text).description }
}
