import Logging

/// Logs to standard error, and escapes what it logs, which may quote input.
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
