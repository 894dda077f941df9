@_spi(CanonicalJSON) import EventModel
import Logging
import SystemPackage

/// Logs to standard error for machines: each fact is one JSON object on one line.
///
/// An object has `time` (RFC 3339, UTC), `level`, `logger`, `message`, and each key of the metadata; a key of the metadata that is one
/// of these gets an underscore in front.
struct JSONLogHandler: LogHandler {
    private static let reserved: Set = ["time", "level", "logger", "message"]

    private let label: String
    private let now: @Sendable () -> Timestamp
    private let write: @Sendable ([UInt8]) -> Void
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    /// Creates a handler; `write` takes a line with its newline.
    init(
        label: String,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now,
        write: @escaping @Sendable ([UInt8]) -> Void = Self.writeToStandardError
    ) {
        self.label = label
        self.now = now
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = Array("{".utf8)
        Self.append("time", .string(now().description), to: &line)
        Self.append("level", .string(event.level.rawValue), to: &line)
        Self.append("logger", .string(label), to: &line)
        Self.append("message", .string(event.message.description), to: &line)
        let metadata = metadata.merging(event.metadata ?? [:]) { $1 }
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            Self.append(Self.reserved.contains(key) ? "_" + key : key, value, to: &line)
        }
        write(line + Array("}\n".utf8))
    }

    /// Appends a member, with a comma before it unless it is the first.
    private static func append(_ key: String, _ value: Logger.MetadataValue, to line: inout [UInt8]) {
        if line.last != UInt8(ascii: "{") { line.append(UInt8(ascii: ",")) }
        JSONString.append(key, to: &line)
        line.append(UInt8(ascii: ":"))
        append(value, to: &line)
    }

    private static func append(_ value: Logger.MetadataValue, to line: inout [UInt8]) {
        switch value {
        case .string(let text): JSONString.append(text, to: &line)
        case .stringConvertible(let value): JSONString.append(value.description, to: &line)
        case .array(let values):
            line.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { line.append(UInt8(ascii: ",")) }
                append(value, to: &line)
            }
            line.append(UInt8(ascii: "]"))
        case .dictionary(let members):
            line.append(UInt8(ascii: "{"))
            for (key, value) in members.sorted(by: { $0.key < $1.key }) { append(key, value, to: &line) }
            line.append(UInt8(ascii: "}"))
        @unknown default:
            JSONString.append("\(value)", to: &line)
        }
    }

    /// A line is one call of the system, so that the lines of two threads do not mix; failures are ignored, as there is nowhere to
    /// report them.
    private static let writeToStandardError: @Sendable ([UInt8]) -> Void = { line in
        _ = try? FileDescriptor.standardError.writeAll(line)
    }
}
