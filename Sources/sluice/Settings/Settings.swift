import Configuration
import ConsoleTracker
import EventPipeline
import Foundation
import HTTPIngest
import Journal
import Logging

/// What a command runs with, read once at its start.
struct Settings {
    static let defaultQuarantineFolder = "quarantine"

    var eventsDirectory: String
    var http: HTTPIngestConfiguration
    /// `nil` where the console is switched off.
    var consoleFormat: ConsoleConfiguration.Format?
    var postgres: Postgres?
    var kafka: Kafka?
    var pipeline: Pipeline.Configuration
    /// `nil` where accepted events live in memory.
    var journal: JournalSettings?
    var quarantineFolder: String
    var quarantineCapacityInBytes: Int
    var strictTrackers: Bool
    var logLevel: Logger.Level

    struct Postgres {
        var connection: String
        var schema: String
    }

    struct JournalSettings {
        var folder: String
        var configuration: JournalConfiguration
    }

    /// The names of the durabilities.
    private enum Durability: String, CaseIterable {
        case fsync, interval, none
    }

    struct Kafka {
        var brokers: String
        var topic: String
        var source: String
        var properties: [String: String]
    }

    /// Reads the settings.
    ///
    /// - Throws: `SettingsError` with everything that is wrong with them.
    static func load(
        _ options: PipelineOptions,
        listen: String? = nil,
        maxWait: Int? = nil,
        journal: String? = nil
    ) async throws -> Settings {
        var values = options.values
        if let listen { values[.httpListen] = ConfigValue(.string(listen), isSecret: false) }
        if let maxWait { values[.httpMaxWaitSeconds] = ConfigValue(.int(maxWait), isSecret: false) }
        if let journal { values[.journalFolder] = ConfigValue(.string(journal), isSecret: false) }
        let reader = try await SettingsReader(
            options: values,
            environment: ProcessInfo.processInfo.environment,
            file: options.config
        )
        let settings = Settings(reading: reader)
        try reader.finish()
        return settings
    }

    private init(reading reader: SettingsReader) {
        eventsDirectory = reader.string(.eventsDirectory) ?? "events"
        http = Self.http(reader)
        consoleFormat = reader.bool(.consoleEnabled) ?? true ? reader.choice(.consoleFormat) ?? .pretty : nil
        postgres = reader.string(.postgresURL).map {
            Postgres(connection: $0, schema: reader.string(.postgresSchema) ?? "analytics")
        }
        kafka = reader.string(.kafkaBrokers).map { Self.kafka(reader, brokers: $0) }
        pipeline = Self.pipeline(reader)
        journal = Self.journal(reader)
        quarantineFolder = reader.string(.quarantineFolder) ?? Self.defaultQuarantineFolder
        quarantineCapacityInBytes = reader.count(.quarantineBytes) ?? Quarantine.defaultCapacityInBytes
        strictTrackers = reader.bool(.strictTrackers) ?? false
        logLevel = reader.choice(.logLevel) ?? .info
    }

    private static func http(_ reader: SettingsReader) -> HTTPIngestConfiguration {
        var http = HTTPIngestConfiguration()
        if let listen = reader.string(.httpListen) {
            if let (host, port) = address(listen) {
                http.host = host
                http.port = port
            } else {
                reader.note("http.listen: expected host:port with a port from 0 to 65535, found '\(listen)'")
            }
        }
        if let wait = reader.duration(.httpMaxWaitSeconds, in: { .seconds($0) }) { http.maxWait = wait }
        return http
    }

    /// `host:port`, or `[host]:port` for an IPv6 address.
    private static func address(_ text: String) -> (host: String, port: Int)? {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]) else { return nil }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        guard (0...65_535).contains(port), !host.isEmpty else { return nil }
        return (String(host), port)
    }

    private static func kafka(_ reader: SettingsReader, brokers: String) -> Kafka {
        var properties: [String: String] = [:]
        for (index, text) in (reader.strings(.kafkaProperties) ?? []).enumerated() {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                // Not the text itself: it may be a password.
                reader.note("kafka.properties: expected name=value, and entry \(index + 1) is not")
                continue
            }
            properties[String(text[..<equals])] = String(text[text.index(after: equals)...])
        }
        return Kafka(
            brokers: brokers,
            topic: reader.string(.kafkaTopic) ?? "events",
            source: reader.string(.kafkaSource) ?? "sluice",
            properties: properties
        )
    }

    private static func journal(_ reader: SettingsReader) -> JournalSettings? {
        let durability: Durability = reader.choice(.journalDurability) ?? .fsync
        let interval = reader.duration(.journalIntervalMilliseconds, in: { .milliseconds($0) }) ?? .seconds(1)
        var configuration = JournalConfiguration(maximumBytes: reader.count(.journalBytes) ?? 10 << 30)
        if let age = reader.duration(.journalRetentionAge, in: { .seconds($0 * 3600) }) {
            configuration.retentionAge = age
        }
        if let bytes = reader.count(.journalRetentionBytes) { configuration.retentionBytes = bytes }
        configuration.retentionDropsUndelivered = reader.bool(.journalDropUndelivered) ?? false
        guard let folder = reader.string(.journalFolder) else { return nil }
        configuration.durability =
            switch durability {
            case .fsync: .fsync
            case .interval: .interval(interval)
            case .none: .none
            }
        return JournalSettings(folder: folder, configuration: configuration)
    }

    private static func pipeline(_ reader: SettingsReader) -> Pipeline.Configuration {
        var pipeline = Pipeline.Configuration()
        if let events = reader.count(.queueEvents) { pipeline.queue.capacityInEvents = events }
        if let bytes = reader.count(.queueBytes) { pipeline.queue.capacityInBytes = bytes }
        if reader.string(.journalFolder) != nil { pipeline.queue.fullPolicy = .spill }
        if let policy: FullPolicy = reader.choice(.queuePolicy) {
            pipeline.queue.fullPolicy = policy
            if policy == .spill, reader.string(.journalFolder) == nil {
                reader.note("queue.policy: a queue can spill only with a journal; see journal.folder")
            }
        }
        if let events = reader.count(.deliveryEvents) { pipeline.delivery.maximumEvents = events }
        if let linger = reader.duration(.deliveryLinger, in: { .milliseconds($0) }) {
            pipeline.delivery.linger = linger
        }
        if let timeout = reader.duration(.shutdownSeconds, in: { .seconds($0) }) { pipeline.shutdownTimeout = timeout }
        return pipeline
    }
}
