import SettingDefinitions

/// librdkafka's properties, as `kafka.properties`, `kafka.propertiesFile` and `kafka.timeouts.deliverySeconds` state them.
///
/// If two of them state a property, the one whose source has precedence counts; with the same source it is a problem, and so is a
/// property that one of them states twice. The texts are left out of problems, because they may be passwords.
struct StatedProperties {
    /// librdkafka's two names for the delivery timeout.
    static let deliveryTimeouts = ["message.timeout.ms", "delivery.timeout.ms"]

    private struct Statement {
        let value: String
        let key: SettingKey
    }

    private var statements: [String: Statement] = [:]
    private let setting: any SettingValues

    /// The properties by their names.
    var values: [String: String] { statements.mapValues(\.value) }

    /// Reads the properties, and notes what is wrong with them.
    ///
    /// `deliveryTimeout` is the value of `kafka.timeouts.deliverySeconds`, or `nil` if nothing states it.
    init(in setting: any SettingValues, deliveryTimeout: Duration?) {
        self.setting = setting
        readList()
        readFile()
        if let deliveryTimeout { set(deliveryTimeout) }
    }

    /// The names of the properties that settings other than this one state; librdkafka's two names of one property count together.
    func names(statedBeside key: SettingKey) -> Set<String> {
        let names = Set(statements.filter { $0.value.key != key }.keys)
        return names.isDisjoint(with: Self.deliveryTimeouts) ? names : names.union(Self.deliveryTimeouts)
    }

    private mutating func readList() {
        for (index, text) in (setting.texts(.kafkaProperties) ?? []).enumerated() {
            guard let property = KafkaProperty(text) else {
                setting.note(.kafkaProperties, "expected name=value, and entry \(index + 1) is not")
                continue
            }
            let statement = Statement(value: property.value, key: .kafkaProperties)
            if statements.updateValue(statement, forKey: property.name) != nil {
                setting.note(.kafkaProperties, "the property '\(property.name)' is listed twice", as: .duplicateKey)
            }
        }
    }

    private mutating func readFile() {
        guard let path = setting.text(.kafkaPropertiesFile),
            let bytes = setting.contents(of: .kafkaPropertiesFile, path)
        else { return }
        let listed = statements
        let (own, other) = (setting.precedence(of: .kafkaProperties), setting.precedence(of: .kafkaPropertiesFile))
        var names: Set<String> = []
        for line in KafkaPropertiesFile(bytes).lines {
            let place = SettingProblem.Place.file(path: path, line: line.number, column: 1)
            guard let property = line.property else {
                setting.note(.invalidSyntax, at: place, "expected name=value")
                continue
            }
            let isListed = listed[property.name] != nil
            if !names.insert(property.name).inserted || (isListed && own == other) {
                setting.note(.duplicateKey, at: place, "the property '\(property.name)' has a value already")
            }
            if !isListed || other > own {
                statements[property.name] = Statement(value: property.value, key: .kafkaPropertiesFile)
            }
        }
    }

    /// Sets the property for the delivery timeout, unless a source with precedence over it states the property itself.
    private mutating func set(_ deliveryTimeout: Duration) {
        let own = setting.precedence(of: .kafkaDeliveryTimeout)
        for name in Self.deliveryTimeouts {
            guard let stated = statements[name].map({ setting.precedence(of: $0.key) }) else { continue }
            if stated > own { return }
            if stated == own {
                let sentence = "set either this or the property '\(name)', not both"
                setting.note(.kafkaDeliveryTimeout, sentence, as: .conflictingSettings)
            }
            statements[name] = nil
        }
        let milliseconds = "\(deliveryTimeout.components.seconds * 1000)"
        statements[Self.deliveryTimeouts[0]] = Statement(value: milliseconds, key: .kafkaDeliveryTimeout)
    }
}

extension KafkaConfiguration {
    /// Sets how long librdkafka retries a message, unless a setting states it.
    package mutating func setDefaultDeliveryTimeout(_ timeout: Duration) {
        guard StatedProperties.deliveryTimeouts.allSatisfy({ properties[$0] == nil }) else { return }
        properties[StatedProperties.deliveryTimeouts[0]] = "\(timeout.components.seconds * 1000)"
    }
}
