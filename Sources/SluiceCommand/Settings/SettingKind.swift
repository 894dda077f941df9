/// What the value of a setting is, in the configuration file and in an environment variable.
enum SettingKind {
    case text
    /// A whole number.
    case number
    /// True or false.
    case flag
    /// A list of texts.
    case list

    /// The kind in a sentence such as "expected a text".
    var words: String {
        switch self {
        case .text: "a text"
        case .number: "a whole number"
        case .flag: "true or false"
        case .list: "a list of texts"
        }
    }
}

extension SettingKey {
    /// What the value is.
    var kind: SettingKind {
        if httpLimit != nil || httpTimeout != nil { return .number }
        switch self {
        case .httpMaxWaitSeconds, .httpWorkers, .httpConnections, .httpAddressConnections, .httpKeyConnections,
            .postgresConnectSeconds, .postgresDeliverySeconds, .postgresLockSeconds, .kafkaDeliverySeconds,
            .kafkaMetadataSeconds, .queueEvents, .queueBytes, .journalIntervalMilliseconds, .journalOverdueSeconds,
            .journalBytes, .journalRetentionAge, .journalRetentionBytes, .deliveryEvents, .deliveryLinger,
            .shutdownSeconds, .quarantineBytes, .quarantineDays, .parkAfterSeconds, .loadRefusedRecords,
            .loadRefusedDays, .clockPastDays, .clockAheadDays:
            return .number
        case .httpOpen, .httpProxyProtocol, .httpClientAddress, .httpTraceparent, .cloudEventsSubject, .adminEnabled,
            .consoleEnabled,
            .journalEnabled, .journalDropUndelivered, .strictTrackers:
            return .flag
        case .httpProxies, .kafkaProperties:
            return .list
        default:
            return .text
        }
    }
}
