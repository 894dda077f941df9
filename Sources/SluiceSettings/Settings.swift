package import EventJournal
package import EventPipeline
package import EventValidation
package import Operations
package import SettingDefinitions
package import SluiceHTTP
package import SluiceKafka
import TrackerKit

/// The settings of a command that runs a pipeline, read once when it starts.
package struct Settings: Sendable {
    /// The plan, the quarantine and the log.
    package var process: ProcessSettings
    package var http: IngestConfiguration
    /// `nil` if the server does not speak TLS.
    package var tls: TLSFiles.Paths?
    /// The private port and the socket; `nil` if there is neither.
    package var privatePort: OperationsConfiguration?
    /// The file of what an operator has paused or changed; `nil` without a journal.
    package var controlFile: String?
    /// The file with the write keys; `nil` if anyone may send.
    package var keyFile: String?
    /// Whether the file with the write keys must exist, because a setting names it.
    package var requiresKeyFile: Bool
    /// The trackers; with a relay, only that.
    package var trackers: [ConfiguredTracker]
    /// The Kafka topic that gets every event; `nil` if each event goes to its own trackers.
    package var relay: KafkaConfiguration?
    /// The topic that `sluice load` reads; `nil` if there is none.
    package var load: LoadSettings?
    package var pipeline: Pipeline.Configuration
    /// `nil` if accepted events are kept in memory.
    package var journal: Journal?
    /// The key of hashed values; `nil` if there is none.
    package var hashKey: HashKey?
    /// The folder of the receipts of `sluice forget`; `nil` if there is none.
    package var receiptsFolder: String?
    /// What they were read from.
    private let reader: SettingsReader

    package static let defaultKeyFile = "keys.json"
    package static let defaultJournalFolder = "journal"

    /// The settings of a journal.
    package struct Journal: Sendable {
        package var folder: String
        package var configuration: JournalConfiguration
    }

    /// Reads all settings; `reader.finish` throws what is wrong with them.
    ///
    /// `keepsJournal` says whether the command keeps a journal; for other commands the journal's settings are validated and then
    /// ignored. `usesRelay` says whether all events go to the relay, if there is one.
    package init(reading reader: SettingsReader, keepsJournal: Bool, usesRelay: Bool = true) {
        self.reader = reader
        process = .reading(ProcessSettings.all, from: reader)
        let relaySettings = RelaySettings.reading(RelaySettings.all, from: reader)
        let relay = reader.relay(relaySettings)
        self.relay = usesRelay ? relay : nil
        load = reader.load(relaySettings)
        trackers = self.relay.map { [ConfiguredTracker(KafkaTracker.self, $0, named: $0.name)] } ?? reader.trackers()
        let journal = JournalSettings.reading(JournalSettings.all, from: reader).journal
        self.journal = keepsJournal ? journal : nil
        let httpSettings = HTTPSettings.reading(HTTPSettings.all, from: reader)
        http = httpSettings.port
        if self.journal != nil, reader.integer(.httpMaxWait) == 0 {
            let sentence = "expected at least 1 with a journal, since requests wait for its disk, found 0"
            reader.note(.httpMaxWait, sentence)
        }
        tls = reader.tls(httpSettings)
        controlFile = self.journal.map { Self.stem(ofJournal: $0.folder) + ".control.json" }
        privatePort = reader.privatePort(journal: self.journal?.folder)
        if http.isOpen, httpSettings.keyFile != nil {
            let sentence = "anyone may send then, but http.keys names a file with keys; set only one of the two"
            reader.note(.httpOpen, sentence, as: .conflictingSettings)
        }
        keyFile = http.isOpen ? nil : httpSettings.keyFile ?? Settings.defaultKeyFile
        requiresKeyFile = httpSettings.keyFile != nil
        pipeline = reader.pipeline(hasJournal: journal != nil, relaySettings, of: trackers)
        // The configuration file may be shared with a server that has a journal, and whose senders wait.
        if !keepsJournal {
            pipeline.waitInsteadOfSpilling()
            pipeline.acknowledgement = .stored
        }
        let privacy = PrivacySettings.reading(PrivacySettings.all, from: reader)
        hashKey = privacy.hashKey
        receiptsFolder = privacy.receiptsFolder
        if receiptsFolder != nil, reader.text(.hashKey) == nil, reader.text(.hashKeyFile) == nil {
            reader.note(.receiptsFolder, "needs privacy.hashKeyFile as well", as: .missingSetting)
        }
    }

    /// The settings with these values in place of those from all sources; only `pipeline` and `process` are read again.
    ///
    /// - Throws: `SettingsError` if a setting cannot have its value.
    package func changing(_ values: [SettingName: SettingValue]) throws(SettingsError) -> Settings {
        let reader = reader.overriding(values)
        var changed = self
        changed.pipeline = reader.pipeline(
            hasJournal: journal != nil,
            RelaySettings.reading(RelaySettings.all, from: reader),
            of: trackers
        )
        changed.process = .reading(ProcessSettings.all, from: reader)
        try reader.finish()
        return changed
    }

    /// Every setting with its value, and where that comes from.
    package func shown() -> [ShownSetting] {
        // With a relay, the trackers of the section `trackers` were not read.
        reader.shownSettings(of: relay == nil ? trackers : reader.trackers(), hasJournal: journal != nil)
    }

    // MARK: Paths

    /// The socket for commands beside a journal.
    package static func socketPath(ofJournal folder: String) -> String { stem(ofJournal: folder) + ".sock" }

    /// The journal's path without a slash at its end.
    private static func stem(ofJournal folder: String) -> String {
        var stem = folder[...]
        while stem.count > 1, stem.last == "/" { stem.removeLast() }
        return String(stem)
    }
}

// The parts of the settings that depend on each other.
extension SettingsReader {
    /// The files of the server's certificate; `nil` if it has none.
    fileprivate func tls(_ http: HTTPSettings) -> TLSFiles.Paths? {
        switch (http.certificate, http.privateKey) {
        case (let certificate?, let privateKey?):
            return .init(certificate: certificate, privateKey: privateKey, clientAuthorities: http.clientAuthorities)
        case (nil, nil):
            if http.clientAuthorities != nil {
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
        var port = OperationsConfiguration.reading(AdminSettings.all, from: self)
        if port.socketPath == nil {
            port.socketPath = journal.map(Settings.socketPath)
            // The default socket is optional.
            port.requiresSocket = false
        }
        return port.hasPort || port.socketPath != nil ? port : nil
    }

    fileprivate func pipeline(
        hasJournal: Bool,
        _ relay: RelaySettings,
        of trackers: [ConfiguredTracker]
    ) -> Pipeline.Configuration {
        var pipeline = hasJournal ? .defaults : Pipeline.Configuration()
        pipeline.read(EventTimeSettings.all, from: self)
        pipeline.read(PipelineSettings.all, from: self)
        readLimits(into: &pipeline, of: trackers, hasJournal: hasJournal)
        if text(.relayURL) != nil, relay.policy != .stored {
            pipeline.acknowledgement = relay.policy
            checkAcknowledgement(with: pipeline, hasJournal: hasJournal)
        }
        return pipeline
    }

    /// Reads the limits of queues and deliveries: those of all trackers, and those that single trackers have instead.
    ///
    /// A limit that a tracker has by itself is a default, so a setting takes precedence, for all trackers or for this one.
    private func readLimits(
        into pipeline: inout Pipeline.Configuration,
        of trackers: [ConfiguredTracker],
        hasJournal: Bool
    ) {
        readLimits(&pipeline.queue, &pipeline.delivery, hasJournal: hasJournal)
        for name in trackerNames {
            var (queue, delivery) = (pipeline.queue, pipeline.delivery)
            let own = trackers.first { $0.name.lowercased() == name.lowercased() }?.deliveryLimits
            if let own {
                delivery = own
                delivery.read(DeliverySettings.all, from: self)
            }
            section(ofTracker: name).readLimits(&queue, &delivery, hasJournal: hasJournal)
            if queue != pipeline.queue { pipeline.queueByTracker[name.lowercased()] = queue }
            if own != nil || delivery != pipeline.delivery { pipeline.deliveryByTracker[name.lowercased()] = delivery }
        }
    }

    private func readLimits(
        _ queue: inout Pipeline.Queue,
        _ delivery: inout DeliveryLimits,
        hasJournal: Bool
    ) {
        queue.read(QueueSettings.all, from: self)
        delivery.read(DeliverySettings.all, from: self)
        if !hasJournal, text(.queuePolicy) == FullPolicy.spill.rawValue {
            let sentence = "a queue can spill only with a journal; see journal.enabled"
            note(.queuePolicy, sentence, as: .conflictingSettings)
        }
    }

    /// Reports settings with which an answer could not mean what `relay.acknowledge` says.
    private func checkAcknowledgement(with pipeline: Pipeline.Configuration, hasJournal: Bool) {
        let policy = (pipeline.queueByTracker[RelaySettings.trackerName] ?? pipeline.queue).fullPolicy
        if [.dropNewest, .dropOldest].contains(policy) {
            let sentence = "a queue that drops events cannot be combined with relay.acknowledge 'brokers'"
            note(.queuePolicy, sentence, as: .conflictingSettings)
        }
        if pipeline.acknowledgement == .deliveredIfAvailable, !hasJournal {
            let sentence = "'journal' needs a journal; see journal.enabled"
            note(.relayFallback, sentence, as: .conflictingSettings)
        }
    }
}

extension Pipeline.Configuration {
    /// Lets batches wait where queues would spill, for a pipeline without a journal.
    fileprivate mutating func waitInsteadOfSpilling() {
        if queue.fullPolicy == .spill { queue.fullPolicy = .wait }
        for (name, limits) in queueByTracker where limits.fullPolicy == .spill {
            queueByTracker[name]?.fullPolicy = .wait
        }
    }
}
