package import SettingDefinitions
package import TrackerKit

extension PostgresConfiguration: Configurable {
    package static var defaults: PostgresConfiguration { PostgresConfiguration(connection: "") }
}

extension SettingKey {
    package static let postgresURL = SettingKey(
        "postgres.url",
        .text,
        "The PostgreSQL database, as a libpq URI or keywords, such as postgres://sluice@db.example/shop.",
        default: .none,
        option: "--postgres",
        variable: "DATABASE_URL",
        secrecy: .partlySecret(ConnectionParameters.redacted),
        scope: .tracker(type: PostgresTracker.type)
    )
    package static let postgresURLFile = SettingKey(
        "postgres.urlFile",
        .text,
        "The file with the PostgreSQL database, for a URI with a password; instead of postgres.url.",
        default: .none,
        option: "--postgres-file",
        variable: "DATABASE_URL_FILE",
        scope: .tracker(type: PostgresTracker.type)
    )
    fileprivate static let passwordFile = SettingKey(
        "postgres.passwordFile",
        .text,
        """
        The file with the password for PostgreSQL; it replaces one in the URI, unless the URI comes from a source with higher \
        precedence.
        """,
        default: .none,
        scope: .tracker(type: PostgresTracker.type)
    )
    package static let postgresSchema = PostgresSettings.schema.key
    package static let postgresPartitions = PostgresSettings.partitions.key
    package static let postgresRetentionMonths = PostgresSettings.retentionMonths.key
    package static let postgresArchiveCommand = SettingKey(
        "postgres.archive.command",
        .list,
        """
        The program, and its arguments, that archives a partition before `sluice maintain` drops it; without a receipt that fits the \
        rows, they stay. In the environment variable, separate the arguments with semicolons. Other users of the machine can see them.
        """,
        default: .none,
        option: "--archive",
        secrecy: .partlySecretList(VisibleSecret.redacted),
        scope: .tracker(type: PostgresTracker.type)
    )
    package static let postgresArchiveFolder = PostgresSettings.archiveFolder.key
}

/// The settings of a PostgreSQL tracker.
private enum PostgresSettings {
    private static let scope = SettingKey.Scope.tracker(type: PostgresTracker.type)

    static let schema = Setting<PostgresConfiguration>.text(
        "postgres.schema",
        \.schema,
        option: "--schema",
        scope: scope,
        "The PostgreSQL schema of the event tables."
    )
    static let partitions = Setting<PostgresConfiguration>.choice(
        "postgres.partitions",
        \.partitions,
        scope: scope,
        "How `sluice migrate` partitions a new table by the time of its events: none, month or day, in UTC."
    )
    static let retentionMonths = Setting<PostgresConfiguration>.count(
        "postgres.retentionMonths",
        \.retentionMonths,
        option: "--retention-months",
        scope: scope,
        default: "keeps all",
        """
        How many months before the present one `sluice maintain` keeps in tables that are partitioned by time; it drops older \
        partitions.
        """
    )
    static let archiveFolder = Setting<PostgresConfiguration>.text(
        "postgres.archive.folder",
        \.archive.folder,
        option: "--archive-folder",
        scope: scope,
        "The folder in which `sluice maintain` makes a folder for the archive of each partition, with its receipt."
    )
    static let deliveryTimeout = Setting<PostgresConfiguration>.duration(
        "postgres.timeouts.deliverySeconds",
        \.deliveryTimeout,
        within: 1...86_400,
        scope: scope,
        "How long a delivery to PostgreSQL, and each of its statements, may take, in seconds; then it is retried."
    )
    static let lockTimeout = Setting<PostgresConfiguration>.duration(
        "postgres.timeouts.lockSeconds",
        \.lockTimeout,
        within: 1...86_400,
        scope: scope,
        "How long a statement may wait for a lock on its table, in seconds; less than for the delivery."
    )

    static let all = Setting.secret(.postgresURL, orIn: .postgresURLFile, read: readConnection) + others

    private static let others: [Setting<PostgresConfiguration>] = [
        // Read with the connection, because its password may take precedence.
        Setting(.passwordFile),
        schema,
        partitions,
        retentionMonths,
        Setting(.postgresArchiveCommand) { values, postgres in
            postgres.archive.command = values.texts(.postgresArchiveCommand) ?? []
        },
        archiveFolder,
        .duration(
            "postgres.archive.timeoutSeconds",
            \.archive.timeout,
            within: 1...86_400,
            scope: scope,
            "How long the program may take to archive a partition, in seconds, before it is ended and the rows stay."
        ),
        .duration(
            "postgres.timeouts.connectSeconds",
            \.connectTimeout,
            within: 1...86_400,
            scope: scope,
            "How long connecting to PostgreSQL may take, in seconds, unless the URI has a connect_timeout."
        ),
        deliveryTimeout,
        lockTimeout,
        .count(
            "postgres.refused.maximumRecordsPerPartition",
            \.maximumRefused,
            scope: scope,
            """
            The maximum number of records refused by `sluice load` that PostgreSQL keeps of each partition; loading stops before \
            the next one.
            """
        ),
        .duration(
            "postgres.refused.retentionDays",
            \.refusedRetention,
            within: 1...36_500,
            scope: scope,
            "How long PostgreSQL keeps records refused by `sluice load`, in days."
        ),
    ]

    /// Reads the connection, and the password unless the connection has one with precedence.
    private static func readConnection(
        _ connection: Secret,
        _ values: any SettingValues,
        _ postgres: inout PostgresConfiguration
    ) {
        postgres.connection = connection.text
        if let file = values.text(.passwordFile), !hasPassword(connection, in: values) {
            let password = values.contents(of: .passwordFile, file)
            postgres.password = password.map { String(decoding: $0, as: UTF8.self) }
            postgres.readPassword = { String(decoding: try SecretFile.currentContents(of: file), as: UTF8.self) }
        }
        if connection.key == .postgresURLFile, let file = values.text(.postgresURLFile) {
            postgres.readConnection = { String(decoding: try SecretFile.currentContents(of: file), as: UTF8.self) }
        }
    }

    /// Whether the connection has a password that takes precedence over the one in the password file.
    private static func hasPassword(_ connection: Secret, in values: any SettingValues) -> Bool {
        values.precedence(of: connection.key) > values.precedence(of: .passwordFile)
            && ConnectionParameters.stated(in: connection.text)?["password"]?.isEmpty == false
    }
}

extension PostgresTracker: ConfigurableTracker {
    package static let type = PostgresConfiguration.defaultName
    package static let settings = PostgresSettings.all
    package static let requiresOneOf: [SettingKey] = [.postgresURL, .postgresURLFile]
    package static let example = (
        name: "warehouse", values: [SettingKey.postgresURL: "postgres://sluice@warehouse.example/shop"]
    )

    package static func configuration(named name: String, from values: any SettingValues) -> PostgresConfiguration? {
        // Read in any case, so that their problems are found also if another source will state the database.
        var postgres = PostgresConfiguration.reading(settings, from: values)
        guard !postgres.connection.isEmpty else { return nil }
        postgres.name = name
        let (lock, delivery) = (PostgresSettings.lockTimeout.key, PostgresSettings.deliveryTimeout.key)
        if let stated = values.duration(lock), stated >= postgres.deliveryTimeout {
            values.note(lock, "expected less than \(values.name(of: delivery)), which is \(postgres.deliveryTimeout)")
        }
        note(problemsOf: postgres.archive, in: values)
        return postgres
    }

    /// Notes what is wrong with the program that archives partitions.
    private static func note(problemsOf archive: ArchiveConfiguration, in values: any SettingValues) {
        let (command, folder) = (SettingKey.postgresArchiveCommand, SettingKey.postgresArchiveFolder)
        guard let program = values.texts(command) else { return }
        if program.first?.isEmpty != false { values.note(command, "expected a program and its arguments") }
        // The folder alone is no problem: `sluice maintain` may get the program as an option.
        if archive.folder.isEmpty {
            values.note(command, "it needs \(values.name(of: folder)), in which it writes", as: .conflictingSettings)
        }
    }

    package static func tracker(_ configuration: PostgresConfiguration, in context: TrackerContext) -> any Tracker {
        var configuration = configuration
        configuration.requiresEveryTable = context.requiresEveryDestination
        return PostgresTracker(configuration, logger: context.logger)
    }
}
