import EventPipeline
import SluiceConsole
import SluiceKafka
import SluicePostgres

/// The settings of one tracker.
enum TrackerSettings {
    case console(ConsoleConfiguration)
    case postgres(PostgresConfiguration)
    case kafka(KafkaConfiguration)

    /// The name that events in the plan use.
    var name: String {
        switch self {
        case .console(let console): console.name
        case .postgres(let postgres): postgres.name
        case .kafka(let kafka): kafka.name
        }
    }
}

extension SettingsReader {
    /// The configured trackers: the one that each type has by itself, and those of the section `trackers`.
    func trackers() -> [TrackerSettings] {
        // Read once, because all PostgreSQL trackers share them.
        let refused = refusedLimits()
        let own = TrackerType.allCases.compactMap { type in
            if let tracker = tracker(named: type.rawValue, type, refused) { return tracker }
            // A section that has only limits may be for a tracker that an option states.
            let section = namedTrackers.first { $0.name.lowercased() == type.rawValue && $0.statesType }
            if let section { noteMissing(section) }
            return nil
        }
        let named = namedTrackers.filter { TrackerType(rawValue: $0.name.lowercased()) == nil }
        return own
            + named.compactMap { named in
                if let tracker = tracker(named: named.name, named.type, refused) { return tracker }
                noteMissing(named)
                return nil
            }
    }

    /// The names of all trackers that settings can be about, configured or not.
    private var trackerNames: [String] { TrackerType.allCases.map(\.rawValue) + namedTrackers.map(\.name) }

    /// The limits of the records that `sluice load` refuses.
    private struct RefusedLimits {
        var records: Int?
        var retention: Duration?
    }

    private func refusedLimits() -> RefusedLimits {
        RefusedLimits(
            records: count(.loadRefusedRecords),
            retention: duration(.loadRefusedDays, within: 1...36_500, in: { .seconds($0 * 86_400) })
        )
    }

    private func tracker(named name: String, _ type: TrackerType, _ refused: RefusedLimits) -> TrackerSettings? {
        switch type {
        case .console: console(named: name).map(TrackerSettings.console)
        case .postgres: postgres(named: name, refused).map(TrackerSettings.postgres)
        case .kafka: kafka(named: name).map(TrackerSettings.kafka)
        }
    }

    /// Says what a tracker of the section `trackers` lacks, unless a problem with it was noted already.
    private func noteMissing(_ tracker: ConfigurationDocument.Tracker) {
        let keys: [SettingKey]
        switch tracker.type {
        case .console: return
        case .postgres: keys = [.postgresURL, .postgresURLFile]
        case .kafka: keys = [.kafkaBrokers]
        }
        let settings = keys.map { Setting($0, of: tracker.name) }
        guard settings.allSatisfy({ string($0.key, of: $0.tracker) == nil && !isRejected($0) }) else { return }
        let names = settings.map(\.name).joined(separator: " or ")
        note(.missingSetting, at: tracker.place, "the tracker '\(tracker.name)' needs \(names)")
    }

    private func console(named name: String) -> ConsoleConfiguration? {
        let format = choice(.consoleFormat, of: name) ?? SettingDefaults.consoleFormat
        let isOwn = name == ConsoleConfiguration.defaultName
        guard !isOwn || bool(.consoleEnabled) ?? SettingDefaults.hasConsole else { return nil }
        return ConsoleConfiguration(name: name, format: format)
    }

    /// A PostgreSQL tracker; `nil` if no database is set for it.
    private func postgres(named name: String, _ refused: RefusedLimits) -> PostgresConfiguration? {
        // Read in any case, so that their problems are found also if another source will state the database.
        let connectTimeout = timeout(.postgresConnectSeconds, of: name)
        let deliveryTimeout = timeout(.postgresDeliverySeconds, of: name)
        let lockTimeout = timeout(.postgresLockSeconds, of: name)
        guard let connection = secret(.postgresURL, file: .postgresURLFile, of: name) else { return nil }
        var postgres = PostgresConfiguration(connection: connection.text, name: name)
        if let schema = string(.postgresSchema, of: name) { postgres.schema = schema }
        if let file = string(.postgresPasswordFile, of: name), !hasPrecedingPassword(connection, of: name) {
            let password = contents(of: .postgresPasswordFile, file, of: name)
            postgres.password = password.map { String(decoding: $0, as: UTF8.self) }
            postgres.readPassword = { String(decoding: try SecretFile.currentContents(of: file), as: UTF8.self) }
        }
        if connection.key == .postgresURLFile, let file = string(.postgresURLFile, of: name) {
            postgres.readConnection = { String(decoding: try SecretFile.currentContents(of: file), as: UTF8.self) }
        }
        if let connectTimeout { postgres.connectTimeout = connectTimeout }
        if let deliveryTimeout { postgres.deliveryTimeout = deliveryTimeout }
        if let lockTimeout { postgres.lockTimeout = lockTimeout }
        if let records = refused.records { postgres.maximumRefused = records }
        if let retention = refused.retention { postgres.refusedRetention = retention }
        if let lockTimeout, lockTimeout >= postgres.deliveryTimeout {
            let longer = Setting(.postgresDeliverySeconds, of: name).name
            note(.postgresLockSeconds, of: name, "expected less than \(longer), which is \(postgres.deliveryTimeout)")
        }
        return postgres
    }

    /// Whether a connection states a password and comes from a source with precedence over that of the file with the password.
    private func hasPrecedingPassword(_ connection: Secret, of tracker: String) -> Bool {
        let (own, other) = (precedence(of: connection.key, tracker), precedence(of: .postgresPasswordFile, tracker))
        return own > other && ConnectionParameters.stated(in: connection.text)?["password"]?.isEmpty == false
    }

    func precedence(of key: SettingKey, _ tracker: String) -> Int {
        source(of: Setting(key, of: tracker)).precedence
    }

    func timeout(_ key: SettingKey, of tracker: String) -> Duration? {
        duration(key, of: tracker, within: 1...86_400, in: { .seconds($0) })
    }

    // MARK: Limits

    /// Reads the limits of queues and deliveries: those of all trackers, and those that single trackers have instead.
    func readLimits(into pipeline: inout Pipeline.Configuration, hasJournal: Bool) {
        pipeline.queue = queue(of: nil, pipeline.queue, hasJournal: hasJournal)
        pipeline.delivery = delivery(of: nil, pipeline.delivery)
        for name in trackerNames {
            let queue = queue(of: name, pipeline.queue, hasJournal: hasJournal)
            if queue != pipeline.queue { pipeline.queueByTracker[name.lowercased()] = queue }
            let delivery = delivery(of: name, pipeline.delivery)
            if delivery != pipeline.delivery { pipeline.deliveryByTracker[name.lowercased()] = delivery }
        }
    }

    private func queue(of tracker: String?, _ standard: Pipeline.Queue, hasJournal: Bool) -> Pipeline.Queue {
        var queue = standard
        if let events = count(.queueEvents, of: tracker) { queue.capacityInEvents = events }
        if let bytes = count(.queueBytes, of: tracker) { queue.capacityInBytes = bytes }
        if let policy: FullPolicy = choice(.queuePolicy, of: tracker) {
            queue.fullPolicy = policy
            if policy == .spill, !hasJournal {
                note(
                    .queuePolicy,
                    of: tracker,
                    "a queue can spill only with a journal; see journal.enabled",
                    as: .conflictingSettings
                )
            }
        }
        return queue
    }

    private func delivery(of tracker: String?, _ standard: Pipeline.DeliveryLimits) -> Pipeline.DeliveryLimits {
        var delivery = standard
        if let events = count(.deliveryEvents, of: tracker) { delivery.maximumEvents = events }
        if let linger = duration(.deliveryLinger, of: tracker, in: { .milliseconds($0) }) { delivery.linger = linger }
        return delivery
    }
}

extension Pipeline.Configuration {
    /// Lets batches wait where queues would spill, for a pipeline without a journal.
    mutating func waitInsteadOfSpilling() {
        if queue.fullPolicy == .spill { queue.fullPolicy = .wait }
        for (name, limits) in queueByTracker where limits.fullPolicy == .spill {
            queueByTracker[name]?.fullPolicy = .wait
        }
    }
}
