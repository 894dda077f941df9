import Configuration
import EventJournal
import EventModel
import EventPipeline
import EventQuarantine
import EventValidation
import Foundation
import Logging
import Operations
import SluiceConsole
import SluiceHTTP
import SluiceKafka
import SluicePostgres

/// The settings of a command that runs a pipeline, read once when it starts.
struct Settings {
    var eventsFolder: String
    var http: IngestConfiguration
    /// `nil` if the server does not speak TLS.
    var tls: TLSFiles.Paths?
    /// The private port and the socket; `nil` if there is neither.
    var privatePort: OperationsConfiguration?
    /// The file of what an operator has paused or changed; `nil` without a journal.
    var controlFile: String?
    /// The file with the write keys; `nil` if anyone may send.
    var keyFile: String?
    /// Whether the file with the write keys must exist, because a setting names it.
    var requiresKeyFile: Bool
    /// The trackers; with a relay, only that.
    var trackers: [TrackerSettings]
    /// The Kafka topic that gets every event; `nil` if each event goes to its own trackers.
    var relay: KafkaConfiguration?
    /// The topic that `sluice load` reads; `nil` if there is none.
    var load: LoadSettings?
    var pipeline: Pipeline.Configuration
    /// `nil` if accepted events are kept in memory.
    var journal: JournalSettings?
    var quarantineFolder: String
    var quarantineCapacityInBytes: Int
    var quarantineRetention: Duration
    var strictTrackers: Bool
    /// The key of hashed values; `nil` if there is none.
    var hashKey: HashKey?
    var logLevel: Logger.Level
    var logFormat: LogFormat
    /// What they were read from.
    private let reader: SettingsReader

    struct JournalSettings {
        var folder: String
        var configuration: JournalConfiguration
    }

    struct LoadSettings {
        var brokers: String
        var topic: String
        /// librdkafka's configuration properties.
        var properties: [String: String]
        /// Reads those of a file again.
        var readChangingProperties: (@Sendable () throws -> [String: String])?
        /// `nil` if it is not stated.
        var group: String?
        var instance: String?
    }

    /// The values of `log.format`.
    enum LogFormat: String, CaseIterable {
        case auto, text, json
    }

    /// The values of `relay.acknowledge`.
    enum RelayAcknowledgement: String, CaseIterable {
        case journal, brokers
    }

    /// The values of `relay.whenUnavailable`.
    enum RelayFallback: String, CaseIterable {
        case refuse, journal
    }

    /// The values of `journal.durability`.
    enum Durability: String, CaseIterable {
        case fsync, interval, none
    }

    /// Reads the settings from the command line, the environment and a configuration file.
    ///
    /// - Parameters:
    ///   - keepsJournal: Whether the command keeps a journal. For other commands the journal's settings are validated and then
    ///     ignored.
    ///   - usesRelay: Whether all events go to the relay, if there is one.
    /// - Throws: `SettingsError` with all problems.
    static func load(
        _ options: CommandLineSettings,
        file: String?,
        keepsJournal: Bool = false,
        usesRelay: Bool = true
    ) async throws -> Settings {
        let reader = try SettingsReader(options: options, file: file)
        let settings = Settings(reading: reader, keepsJournal: keepsJournal, usesRelay: usesRelay)
        try reader.finish()
        return settings
    }

    /// The socket for commands beside a journal.
    static func socketPath(ofJournal folder: String) -> String { stem(ofJournal: folder) + ".sock" }

    /// The journal's path without a slash at its end.
    fileprivate static func stem(ofJournal folder: String) -> String {
        var stem = folder[...]
        while stem.count > 1, stem.last == "/" { stem.removeLast() }
        return String(stem)
    }

    /// Reads all settings; `reader.finish` throws what is wrong with them.
    init(reading reader: SettingsReader, keepsJournal: Bool, usesRelay: Bool = true) {
        self.reader = reader
        eventsFolder = reader.string(.eventsDirectory) ?? SettingDefaults.eventsFolder
        let relay = reader.relay()
        self.relay = usesRelay ? relay : nil
        load = reader.load()
        trackers = self.relay.map { [.kafka($0)] } ?? reader.trackers()
        let journal = reader.journal()
        self.journal = keepsJournal ? journal : nil
        http = reader.http(hasJournal: self.journal != nil)
        tls = reader.tls()
        controlFile = self.journal.map { Self.stem(ofJournal: $0.folder) + ".control.json" }
        privatePort = reader.privatePort(journal: self.journal?.folder)
        let keys = reader.string(.httpKeys)
        if http.isOpen, keys != nil {
            reader.note(
                .httpOpen,
                "anyone may send then, but http.keys names a file with keys; set only one of the two",
                as: .conflictingSettings
            )
        }
        keyFile = http.isOpen ? nil : keys ?? SettingDefaults.keyFile
        requiresKeyFile = keys != nil
        pipeline = reader.pipeline(hasJournal: journal != nil)
        // The configuration file may be shared with a server that has a journal, and whose senders wait.
        if !keepsJournal {
            pipeline.waitInsteadOfSpilling()
            pipeline.acknowledgement = .stored
        }
        quarantineFolder = reader.string(.quarantineFolder) ?? SettingDefaults.quarantineFolder
        quarantineCapacityInBytes = reader.count(.quarantineBytes) ?? Quarantine.defaultCapacityInBytes
        quarantineRetention =
            reader.duration(.quarantineDays, within: 1...36_500, in: { .seconds($0 * 86_400) })
            ?? Quarantine.defaultRetention
        strictTrackers = reader.bool(.strictTrackers) ?? SettingDefaults.strictTrackers
        hashKey = reader.hashKey()
        logLevel = reader.choice(.logLevel) ?? SettingDefaults.logLevel
        logFormat = reader.choice(.logFormat) ?? SettingDefaults.logFormat
    }

    /// The same settings with these values above all others; only those that can be changed while `serve` runs are read again.
    ///
    /// - Throws: `SettingsError` if a setting cannot have its value.
    func changing(_ values: [Setting: ConfigValue]) throws(SettingsError) -> Settings {
        let reader = reader.overriding(values)
        var changed = self
        changed.pipeline = reader.pipeline(hasJournal: journal != nil)
        changed.logLevel = reader.choice(.logLevel) ?? SettingDefaults.logLevel
        try reader.finish()
        return changed
    }
}

// The parts of the settings that belong together, in the order of `SettingKey`.
extension SettingsReader {
    fileprivate func http(hasJournal: Bool) -> IngestConfiguration {
        var http = SettingDefaults.http
        if let listen = string(.httpListen) {
            if let (host, port) = Self.address(listen) {
                http.host = host
                http.port = port
            } else {
                note(.httpListen, "expected host:port with a port from 0 to 65535, found '\(listen)'")
            }
        }
        if let isOpen = bool(.httpOpen) { http.isOpen = isOpen }
        if let wait = duration(.httpMaxWaitSeconds, in: { .seconds($0) }) {
            http.maxWait = wait
            if hasJournal, wait == .zero {
                note(
                    .httpMaxWaitSeconds,
                    "expected at least 1 with a journal, since requests wait for its disk, found 0"
                )
            }
        }
        if let prefix = string(.cloudEventsTypePrefix) { http.cloudEvents.typePrefix = prefix }
        if let isUser = bool(.cloudEventsSubject) { http.cloudEvents.subjectIsUserID = isUser }
        if let past = duration(.clockPastDays, within: 1...36_500, in: { .seconds($0 * 86_400) }) {
            http.clockCorrection.past = past
        }
        if let ahead = duration(.clockAheadDays, within: 0...36_500, in: { .seconds($0 * 86_400) }) {
            http.clockCorrection.ahead = ahead
        }
        if let connections = count(.httpConnections) { http.maximumConnections = connections }
        http.maximumConnectionsPerAddress = count(.httpAddressConnections)
        http.maximumConnectionsPerKey = count(.httpKeyConnections)
        http.eventLoopCount = count(.httpWorkers)
        http.recordsClientAddress = bool(.httpClientAddress) ?? http.recordsClientAddress
        http.recordsTraceparent = bool(.httpTraceparent) ?? http.recordsTraceparent
        http.expectsProxyHeader = bool(.httpProxyProtocol) ?? http.expectsProxyHeader
        http.proxies = (strings(.httpProxies) ?? []).compactMap { text in
            let range = NetworkRange(text)
            if range == nil {
                note(.httpProxies, "expected an address, or a range such as 10.0.0.0/8, found '\(text)'")
            }
            return range
        }
        for key in SettingKey.allCases {
            if let limit = key.httpLimit, let value = count(key) { http[keyPath: limit] = value }
            // Without time, no connection would live; a shutdown may end them at once.
            let range = key == .httpDrainSeconds ? 0...86_400 : 1...86_400
            if let timeout = key.httpTimeout, let value = duration(key, within: range, in: { .seconds($0) }) {
                http[keyPath: timeout] = value
            }
        }
        return http
    }

    /// The files of the server's certificate; `nil` if it has none.
    fileprivate func tls() -> TLSFiles.Paths? {
        let authorities = string(.tlsClientAuthorities)
        switch (string(.tlsCertificate), string(.tlsPrivateKey)) {
        case (let certificate?, let privateKey?):
            return .init(certificate: certificate, privateKey: privateKey, clientAuthorities: authorities)
        case (nil, nil):
            if authorities != nil {
                note(.tlsClientAuthorities, "needs http.tls.certificate as well", as: .missingSetting)
            }
            return nil
        case (nil, _):
            note(.tlsPrivateKey, "needs http.tls.certificate as well", as: .missingSetting)
            return nil
        case (_, nil):
            note(.tlsCertificate, "needs http.tls.privateKey as well", as: .missingSetting)
            return nil
        }
    }

    /// The private port and the socket; `nil` if the port is switched off and there is no socket.
    fileprivate func privatePort(journal: String?) -> OperationsConfiguration? {
        var port = SettingDefaults.privatePort
        port.socketPath = string(.adminSocket) ?? journal.map(Settings.socketPath)
        // Nobody has asked for the default one.
        port.requiresSocket = string(.adminSocket) != nil
        if let listen = string(.adminListen) {
            if let (host, number) = Self.address(listen) {
                port.host = host
                port.port = number
            } else {
                note(.adminListen, "expected host:port with a port from 0 to 65535, found '\(listen)'")
            }
        }
        if let token = secret(.adminToken, file: .adminTokenFile) {
            port.token = token.text
            if token.key == .adminTokenFile, let file = string(.adminTokenFile) {
                port.readToken = {
                    (try? SecretFile.currentContents(of: file)).map { String(decoding: $0, as: UTF8.self) }
                }
            }
            let minimum = OperationsConfiguration.minimumTokenBytes
            if token.bytes.count < minimum {
                note(token.key, "expected a token of at least \(minimum) bytes, found \(token.bytes.count)")
            }
        }
        port.hasPort = bool(.adminEnabled) ?? SettingDefaults.hasPrivatePort
        return port.hasPort || port.socketPath != nil ? port : nil
    }

    /// Parses `host:port`, or `[host]:port` for an IPv6 address.
    private static func address(_ text: String) -> (host: String, port: Int)? {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]) else { return nil }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        guard (0...65_535).contains(port), !host.isEmpty else { return nil }
        return (String(host), port)
    }

    /// The key of hashed values; `nil` if there is none.
    fileprivate func hashKey() -> HashKey? {
        guard let secret = secret(.hashKey, file: .hashKeyFile) else { return nil }
        guard let key = HashKey(secret.bytes) else {
            let count = secret.bytes.count
            note(secret.key, "expected a key of at least \(HashKey.minimumBytes) bytes, found \(count)")
            return nil
        }
        return key
    }

    fileprivate func pipeline(hasJournal: Bool) -> Pipeline.Configuration {
        var pipeline = hasJournal ? SettingDefaults.pipeline : Pipeline.Configuration()
        readLimits(into: &pipeline, hasJournal: hasJournal)
        let acknowledgement = acknowledgement()
        if string(.relayURL) != nil, acknowledgement != .stored {
            pipeline.acknowledgement = acknowledgement
            checkAcknowledgement(with: pipeline, hasJournal: hasJournal)
        }
        if let time = duration(.parkAfterSeconds, in: { .seconds($0) }) { pipeline.parkAfter = time }
        if let overdue = duration(.journalOverdueSeconds, in: { .seconds($0) }) {
            pipeline.commitOverdueAfter = overdue
            if overdue == .zero {
                note(.journalOverdueSeconds, "expected at least 1, since every commit takes time, found 0")
            }
        }
        if let timeout = duration(.shutdownSeconds, in: { .seconds($0) }) { pipeline.shutdownTimeout = timeout }
        return pipeline
    }

    /// When events for a relay are acknowledged.
    fileprivate func acknowledgement() -> Pipeline.AcknowledgementPolicy {
        let fallback: Settings.RelayFallback = choice(.relayUnavailable) ?? SettingDefaults.relayUnavailable
        guard acknowledgesByBrokers else { return .stored }
        return fallback == .refuse ? .delivered : .deliveredIfAvailable
    }

    /// Reports settings with which an answer could not mean what `relay.acknowledge` says.
    private func checkAcknowledgement(with pipeline: Pipeline.Configuration, hasJournal: Bool) {
        let policy = (pipeline.queueByTracker[SettingDefaults.relayName] ?? pipeline.queue).fullPolicy
        if [.dropNewest, .dropOldest].contains(policy) {
            let sentence = "a queue that drops events cannot be combined with relay.acknowledge 'brokers'"
            note(.queuePolicy, sentence, as: .conflictingSettings)
        }
        if pipeline.acknowledgement == .deliveredIfAvailable, !hasJournal {
            let sentence = "'journal' needs a journal; see journal.enabled"
            note(.relayUnavailable, sentence, as: .conflictingSettings)
        }
    }

    fileprivate func journal() -> Settings.JournalSettings? {
        let durability: Settings.Durability = choice(.journalDurability) ?? SettingDefaults.durability
        let interval = duration(.journalIntervalMilliseconds, in: { .milliseconds($0) }) ?? SettingDefaults.syncInterval
        var configuration = SettingDefaults.journal
        configuration.durability =
            switch durability {
            case .fsync: .fsync
            case .interval: .interval(interval)
            case .none: .none
            }
        if let bytes = count(.journalBytes) { configuration.maximumBytes = bytes }
        if let age = duration(.journalRetentionAge, in: { .seconds($0 * 3600) }) { configuration.retentionAge = age }
        if let bytes = count(.journalRetentionBytes) { configuration.retentionBytes = bytes }
        if let drops = bool(.journalDropUndelivered) { configuration.retentionDropsUndelivered = drops }
        let folder = string(.journalFolder) ?? SettingDefaults.journalFolder
        let isEnabled = bool(.journalEnabled) ?? SettingDefaults.hasJournal
        return isEnabled ? Settings.JournalSettings(folder: folder, configuration: configuration) : nil
    }
}
