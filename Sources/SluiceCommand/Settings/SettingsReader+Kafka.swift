import SluiceKafka

/// The settings of Kafka trackers.
extension SettingsReader {
    /// A Kafka tracker; `nil` if no brokers are set for it.
    func kafka(named name: String) -> KafkaConfiguration? {
        guard let brokers = string(.kafkaBrokers, of: name) else {
            // Read all the same, so that problems are found also if another source will state the brokers.
            _ = (timeout(.kafkaMetadataSeconds, of: name), timeout(.kafkaDeliverySeconds, of: name))
            return nil
        }
        var kafka = kafka(named: name, at: brokers)
        if let topic = string(.kafkaTopic, of: name) { kafka.topic = topic }
        return kafka
    }

    /// The relay, which has the settings of the tracker `kafka` except for its brokers and its topic; `nil` if none is set.
    func relay() -> KafkaConfiguration? {
        guard let address = address(.relayURL) else { return nil }
        var relay = kafka(named: KafkaConfiguration.defaultName, at: address.brokers)
        relay.name = SettingDefaults.relayName
        relay.topic = address.topic
        relay.sendsPlanDigest = true
        guard acknowledgesByBrokers else {
            relay.topicRequirement = .retained
            return relay
        }
        relay.topicRequirement = .replicated
        if Self.deliveryTimeouts.allSatisfy({ relay.properties[$0] == nil }) {
            let milliseconds = SettingDefaults.relayDeliveryTimeout.components.seconds * 1000
            relay.properties[Self.deliveryTimeouts[0]] = "\(milliseconds)"
        }
        return relay
    }

    /// The topic that a loader reads, which is the relay's unless it is stated, with the properties of the tracker `kafka`; `nil` if
    /// there is none.
    func load() -> Settings.LoadSettings? {
        let group = string(.loadGroup)
        guard let address = address(.loadFrom) ?? address(.relayURL) else { return nil }
        let kafka = kafka(named: KafkaConfiguration.defaultName, at: address.brokers)
        return Settings.LoadSettings(
            brokers: address.brokers,
            topic: address.topic,
            properties: kafka.properties,
            readChangingProperties: kafka.readChangingProperties,
            group: group,
            instance: string(.loadInstance)
        )
    }

    private func address(_ key: SettingKey) -> KafkaAddress? {
        guard let url = string(key) else { return nil }
        do throws(KafkaAddress.Problem) {
            return try KafkaAddress(url)
        } catch {
            note(key, error.description)
            return nil
        }
    }

    /// Whether events for the relay are acknowledged by the brokers.
    var acknowledgesByBrokers: Bool {
        (choice(.relayAcknowledge) ?? SettingDefaults.relayAcknowledge) == Settings.RelayAcknowledgement.brokers
    }

    /// A Kafka tracker at these brokers, with the default topic.
    private func kafka(named name: String, at brokers: String) -> KafkaConfiguration {
        let metadataTimeout = timeout(.kafkaMetadataSeconds, of: name)
        let deliveryTimeout = timeout(.kafkaDeliverySeconds, of: name)
        var kafka = KafkaConfiguration(brokers: brokers, name: name)
        if let source = string(.kafkaSource, of: name) { kafka.source = source }
        if let metadataTimeout { kafka.startTimeout = metadataTimeout }
        kafka.sendsTraceparent = bool(.httpTraceparent) ?? kafka.sendsTraceparent
        var properties = kafkaProperties(of: name)
        if let deliveryTimeout { setDeliveryTimeout(deliveryTimeout, in: &properties, of: name) }
        kafka.properties = properties.mapValues(\.value)
        if let file = string(.kafkaPropertiesFile, of: name) {
            let others = properties.filter { $0.value.key != .kafkaPropertiesFile }.keys
            let ignored = Set(others).union(deliveryTimeout == nil ? [] : Self.deliveryTimeouts)
            kafka.readChangingProperties = {
                try KafkaPropertiesFile(path: file).values.filter { !ignored.contains($0.key) }
            }
        }
        return kafka
    }

    /// librdkafka's two names for one property.
    private static let deliveryTimeouts = ["message.timeout.ms", "delivery.timeout.ms"]

    /// The value of one of librdkafka's properties, and the setting that states it.
    private struct KafkaProperty {
        let value: String
        let key: SettingKey
    }

    /// Sets the property for `kafka.timeouts.deliverySeconds`, unless a source with precedence over it states the property itself.
    private func setDeliveryTimeout(
        _ timeout: Duration,
        in properties: inout [String: KafkaProperty],
        of tracker: String
    ) {
        let own = precedence(of: .kafkaDeliverySeconds, tracker)
        let names = Self.deliveryTimeouts
        for name in names {
            guard let stated = properties[name].map({ precedence(of: $0.key, tracker) }) else { continue }
            if stated > own { return }
            if stated == own {
                let sentence = "set either this or the property '\(name)', not both"
                note(.kafkaDeliverySeconds, of: tracker, sentence, as: .conflictingSettings)
            }
            properties[name] = nil
        }
        let milliseconds = "\(timeout.components.seconds * 1000)"
        properties[names[0]] = KafkaProperty(value: milliseconds, key: .kafkaDeliverySeconds)
    }

    /// The properties of the setting and of the file that another setting names.
    ///
    /// If both state a property, the setting whose source has precedence counts; with the same source it is a problem, and so is a
    /// property that one of them states twice. The texts are left out of problems, because they may be passwords.
    private func kafkaProperties(of tracker: String) -> [String: KafkaProperty] {
        var properties: [String: KafkaProperty] = [:]
        for (index, text) in (strings(.kafkaProperties, of: tracker) ?? []).enumerated() {
            guard let (name, value) = KafkaPropertiesFile.property(text) else {
                note(.kafkaProperties, of: tracker, "expected name=value, and entry \(index + 1) is not")
                continue
            }
            let property = KafkaProperty(value: value, key: .kafkaProperties)
            if properties.updateValue(property, forKey: name) != nil {
                note(.kafkaProperties, of: tracker, "the property '\(name)' is listed twice", as: .duplicateKey)
            }
        }
        guard let path = string(.kafkaPropertiesFile, of: tracker),
            let bytes = contents(of: .kafkaPropertiesFile, path, of: tracker)
        else { return properties }
        let stated = properties
        let (own, other) = (precedence(of: .kafkaProperties, tracker), precedence(of: .kafkaPropertiesFile, tracker))
        var names: Set<String> = []
        for line in KafkaPropertiesFile(bytes).lines {
            let place = SettingProblem.Place.file(path: path, line: line.number, column: 1)
            guard let (name, value) = line.property else {
                note(.invalidSyntax, at: place, "expected name=value")
                continue
            }
            if !names.insert(name).inserted || (stated[name] != nil && own == other) {
                note(.duplicateKey, at: place, "the property '\(name)' has a value already")
            }
            if stated[name] == nil || other > own {
                properties[name] = KafkaProperty(value: value, key: .kafkaPropertiesFile)
            }
        }
        return properties
    }
}
