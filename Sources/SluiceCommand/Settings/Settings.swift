import Configuration
import EventJournal
import EventPipeline
import EventQuarantine
import Foundation
import Logging
import SluiceConsole
import SluiceHTTP
import SluicePostgres

/// What a command runs with, read once at its start.
struct Settings {
    static let defaultEventsFolder = "events"
    static let defaultQuarantineFolder = "quarantine"
    static let defaultJournalFolder = "journal"

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

    /// Reads the settings; `options` are those of the command line.
    ///
    /// - Parameter keepsJournal: Whether it is a command that does; for another, what the settings say of a journal is
    ///   looked at, and does not count.
    /// - Throws: `SettingsError` with everything that is wrong with them.
    static func load(
        _ options: [SettingKey: ConfigValue],
        file: String?,
        keepsJournal: Bool = false
    ) async throws -> Settings {
        let reader = try await SettingsReader(
            options: options,
            environment: ProcessInfo.processInfo.environment,
            file: file
        )
        let settings = Settings(reading: reader, keepsJournal: keepsJournal)
        try reader.finish()
        return settings
    }

    /// One setting that is a text, for a command that needs no other; `stated` is what its command line says.
    static func text(_ key: SettingKey, stated: String?, file: String?) async throws -> String? {
        let reader = try await SettingsReader(
            options: stated.map { [key: ConfigValue(.string($0), isSecret: false)] } ?? [:],
            environment: ProcessInfo.processInfo.environment,
            file: file
        )
        let text = reader.string(key)
        try reader.finish()
        return text
    }

    private init(reading reader: SettingsReader, keepsJournal: Bool) {
        eventsDirectory = reader.string(.eventsDirectory) ?? Self.defaultEventsFolder
        consoleFormat = reader.bool(.consoleEnabled) ?? true ? reader.choice(.consoleFormat) ?? .pretty : nil
        postgres = reader.string(.postgresURL).map {
            Postgres(connection: $0, schema: reader.string(.postgresSchema) ?? PostgresConfiguration.defaultSchema)
        }
        kafka = reader.string(.kafkaBrokers).map { Self.kafka(reader, brokers: $0) }
        let journal = Self.journal(reader)
        self.journal = keepsJournal ? journal : nil
        http = Self.http(reader, hasJournal: self.journal != nil)
        pipeline = Self.pipeline(reader, hasJournal: journal != nil)
        // A file of settings may be there for a server, too.
        if !keepsJournal, pipeline.queue.fullPolicy == .spill { pipeline.queue.fullPolicy = .wait }
        quarantineFolder = reader.string(.quarantineFolder) ?? Self.defaultQuarantineFolder
        quarantineCapacityInBytes = reader.count(.quarantineBytes) ?? Quarantine.defaultCapacityInBytes
        strictTrackers = reader.bool(.strictTrackers) ?? false
        logLevel = reader.choice(.logLevel) ?? .info
    }

    private static func http(_ reader: SettingsReader, hasJournal: Bool) -> HTTPIngestConfiguration {
        var http = HTTPIngestConfiguration()
        if let listen = reader.string(.httpListen) {
            if let (host, port) = address(listen) {
                http.host = host
                http.port = port
            } else {
                reader.note("http.listen: expected host:port with a port from 0 to 65535, found '\(listen)'")
            }
        }
        if let wait = reader.duration(.httpMaxWaitSeconds, in: { .seconds($0) }) {
            http.maxWait = wait
            if hasJournal, wait == .zero {
                reader.note(
                    "http.maxWaitSeconds: expected at least 1 with a journal, since requests wait for its disk, found 0"
                )
            }
        }
        if let connections = reader.count(.httpConnections) { http.maximumConnections = connections }
        if let bytes = reader.count(.httpMemoryBytes) { http.maximumBufferedBytes = bytes }
        if let rejections = reader.count(.httpExplainedRejections) { http.maximumExplainedRejections = rejections }
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
        configuration.durability =
            switch durability {
            case .fsync: .fsync
            case .interval: .interval(interval)
            case .none: .none
            }
        let folder = reader.string(.journalFolder) ?? defaultJournalFolder
        let isEnabled = reader.bool(.journalEnabled) ?? true
        return isEnabled ? JournalSettings(folder: folder, configuration: configuration) : nil
    }

    private static func pipeline(_ reader: SettingsReader, hasJournal: Bool) -> Pipeline.Configuration {
        var pipeline = Pipeline.Configuration()
        if let events = reader.count(.queueEvents) { pipeline.queue.capacityInEvents = events }
        if let bytes = reader.count(.queueBytes) { pipeline.queue.capacityInBytes = bytes }
        pipeline.queue.fullPolicy = reader.choice(.queuePolicy) ?? (hasJournal ? .spill : .wait)
        if pipeline.queue.fullPolicy == .spill, !hasJournal {
            reader.note("queue.policy: a queue can spill only with a journal; see journal.enabled")
        }
        if let events = reader.count(.deliveryEvents) { pipeline.delivery.maximumEvents = events }
        if let linger = reader.duration(.deliveryLinger, in: { .milliseconds($0) }) {
            pipeline.delivery.linger = linger
        }
        if let time = reader.duration(.parkAfterSeconds, in: { .seconds($0) }) { pipeline.parkAfter = time }
        if let overdue = reader.duration(.journalOverdueSeconds, in: { .seconds($0) }) {
            pipeline.commitOverdueAfter = overdue
            if overdue == .zero {
                reader.note("journal.commitOverdueSeconds: expected at least 1, since every commit takes time, found 0")
            }
        }
        if let timeout = reader.duration(.shutdownSeconds, in: { .seconds($0) }) { pipeline.shutdownTimeout = timeout }
        return pipeline
    }
}
