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
        let own = TrackerType.allCases.compactMap { type in
            if let tracker = tracker(named: type.rawValue, type) { return tracker }
            // A section that has only limits may be for a tracker that an option states.
            let section = namedTrackers.first { $0.name.lowercased() == type.rawValue && $0.statesType }
            if let section { noteMissing(section) }
            return nil
        }
        let named = namedTrackers.filter { TrackerType(rawValue: $0.name.lowercased()) == nil }
        return own
            + named.compactMap { named in
                if let tracker = tracker(named: named.name, named.type) { return tracker }
                noteMissing(named)
                return nil
            }
    }

    /// The names of all trackers that settings can be about, configured or not.
    private var trackerNames: [String] { TrackerType.allCases.map(\.rawValue) + namedTrackers.map(\.name) }

    private func tracker(named name: String, _ type: TrackerType) -> TrackerSettings? {
        switch type {
        case .console: console(named: name).map(TrackerSettings.console)
        case .postgres: postgres(named: name).map(TrackerSettings.postgres)
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
    private func postgres(named name: String) -> PostgresConfiguration? {
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
        }
        if let connectTimeout { postgres.connectTimeout = connectTimeout }
        if let deliveryTimeout { postgres.deliveryTimeout = deliveryTimeout }
        postgres.lockTimeout = lockTimeout
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

    private func precedence(of key: SettingKey, _ tracker: String) -> Int {
        source(of: Setting(key, of: tracker)).precedence
    }

    /// A Kafka tracker; `nil` if no brokers are set for it.
    private func kafka(named name: String) -> KafkaConfiguration? {
        let metadataTimeout = timeout(.kafkaMetadataSeconds, of: name)
        let deliveryTimeout = timeout(.kafkaDeliverySeconds, of: name)
        guard let brokers = string(.kafkaBrokers, of: name) else { return nil }
        var kafka = KafkaConfiguration(brokers: brokers, name: name)
        if let topic = string(.kafkaTopic, of: name) { kafka.topic = topic }
        if let source = string(.kafkaSource, of: name) { kafka.source = source }
        if let metadataTimeout { kafka.startTimeout = metadataTimeout }
        kafka.sendsTraceparent = bool(.httpTraceparent) ?? kafka.sendsTraceparent
        kafka.properties = kafkaProperties(of: name)
        if let deliveryTimeout {
            let properties = ["message.timeout.ms", "delivery.timeout.ms"]
            if let stated = properties.first(where: { kafka.properties[$0] != nil }) {
                let sentence = "set either this or the property '\(stated)', not both"
                note(.kafkaDeliverySeconds, of: name, sentence, as: .conflictingSettings)
            }
            kafka.properties[properties[0]] = "\(deliveryTimeout.components.seconds * 1000)"
        }
        return kafka
    }

    /// The properties of the setting and of the file that another setting names.
    ///
    /// If both state a property, the setting whose source has precedence counts; with the same source it is a problem.
    /// The texts are left out of problems, because they may be passwords.
    private func kafkaProperties(of tracker: String) -> [String: String] {
        var properties: [String: String] = [:]
        for (index, text) in (strings(.kafkaProperties, of: tracker) ?? []).enumerated() {
            guard let (name, value) = Self.property(text) else {
                note(.kafkaProperties, of: tracker, "expected name=value, and entry \(index + 1) is not")
                continue
            }
            properties[name] = value
        }
        guard let file = string(.kafkaPropertiesFile, of: tracker),
            let bytes = contents(of: .kafkaPropertiesFile, file, of: tracker)
        else { return properties }
        let stated = properties
        let (own, other) = (precedence(of: .kafkaProperties, tracker), precedence(of: .kafkaPropertiesFile, tracker))
        var names: Set<String> = []
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() where !line.allSatisfy(\.isWhitespace) && !line.hasPrefix("#") {
            let place = SettingProblem.Place.file(path: file, line: index + 1, column: 1)
            guard let (name, value) = Self.property(String(line)) else {
                note(.invalidSyntax, at: place, "expected name=value")
                continue
            }
            if !names.insert(name).inserted || (stated[name] != nil && own == other) {
                note(.duplicateKey, at: place, "the property '\(name)' has a value already")
            }
            if stated[name] == nil || other > own { properties[name] = value }
        }
        return properties
    }

    private static func property(_ text: String) -> (name: String, value: String)? {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else { return nil }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }

    private func timeout(_ key: SettingKey, of tracker: String) -> Duration? {
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
