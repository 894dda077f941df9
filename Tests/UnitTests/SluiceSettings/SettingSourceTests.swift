import SettingDefinitions
import SluiceKafka
import SluicePostgres
import SluiceSettings
import Testing

/// Where settings come from, and which source counts.
@Suite("The sources of settings")
struct SettingSourceTests {
    @Test("an invalid environment variable is reported with its name")
    func environment() throws {
        let problems = try SettingsFolder().problems(environment: [
            "SLUICE_LOG_LEVEL": "loud", "SLUICE_JOURNAL_ENABLED": "perhaps", "SLUICE_QUEUE_CAPACITY_IN_EVENTS": "1e3",
        ])
        #expect(
            problems == [
                "error: SLUICE_QUEUE_CAPACITY_IN_EVENTS: expected a whole number, found '1e3' [wrong-type]",
                "error: SLUICE_JOURNAL_ENABLED: expected true or false, found 'perhaps' [wrong-type]",
                "error: SLUICE_LOG_LEVEL: expected one of trace, debug, info, notice, warning, error, critical, found"
                    + " 'loud' [invalid-value]",
            ]
        )
    }

    @Test("environment variables that begin with SLUICE_ and belong to no setting are warnings")
    func unknownVariables() throws {
        let folder = try SettingsFolder("trackers: { a: { type: console } }")
        let environment = [
            "SLUICE_POSTGRES_URL": "postgres://a/b", "SLUICE_TRACKERS_KAFKA_BROKERS": "a:1", "SLUICE_HTTP_LISEN": "a",
            "SLUICE_TRACKERS_A_FORMAT": "json", "SLUICE_TRACKERS_B_SCHEMA_NAME": "json", "SLUICE_EMPTY": "",
            "SLUICE_SERVICE_HOST": "10.0.0.1", "SLUICE_PORT": "tcp://10.0.0.1:80", "SLUICE_PORT_80_TCP_PORT": "80",
        ]
        let warnings = folder.reader("sluice.yaml", environment: environment).unknownVariables.map(\.description)
        let expected = [
            ("HTTP_LISEN", "did you mean SLUICE_HTTP_LISTEN?"), ("POSTGRES_URL", "did you mean DATABASE_URL?"),
            ("TRACKERS_B_SCHEMA_NAME", "'sluice config example' shows all of them"),
            ("TRACKERS_KAFKA_BROKERS", "did you mean KAFKA_BROKERS?"),
        ].map { name, hint in
            "warning: SLUICE_\(name): no setting has this environment variable; \(hint) [unknown-variable]"
        }
        #expect(warnings == expected)
        #expect(folder.problems("sluice.yaml", environment: environment).isEmpty)
    }

    @Test("an option counts more than the environment, that more than the file, and the file more than the default")
    func precedence() throws {
        let folder = try SettingsFolder(
            "http:\n  listen: 127.0.0.1:81\n  proxies: [10.0.0.1]\nlog:\n  level: error\nqueue: { policy: wait }\n"
        )
        let environment = ["SLUICE_HTTP_LISTEN": "127.0.0.1:82", "DATABASE_URL": ""]
        let shown = folder.shown("sluice.yaml", environment: environment, options: [.logLevel: .text("debug")])
        for (name, value, source, place) in [
            ("log.level", .text("debug"), "option", "--log-level"),
            ("http.listen", .text("127.0.0.1:82"), "environment", "SLUICE_HTTP_LISTEN"),
            ("queue.policy", .text("wait"), "file", "sluice.yaml:6"),
            ("http.proxies", .list(["10.0.0.1"]), "file", "sluice.yaml:3"),
            ("queue.capacityInEvents", .number(100_000), "default", nil),
            ("postgres.url", .text("none"), "default", nil),
        ] as [(String, SettingValue, String, String?)] {
            #expect(shown[name] == SettingsFolder.Shown(value, source, place), "\(name)")
        }
        let memory = folder.shown(options: [.journalEnabled: .flag(false)], hasJournal: false)
        #expect(memory["queue.policy"] == SettingsFolder.Shown(.text("wait")))
        #expect(memory["journal.enabled"] == SettingsFolder.Shown(.flag(false), "option", "--no-journal"))
    }

    @Test("an empty environment variable and an empty text in the file count as not set")
    func emptyValues() throws {
        let folder = try SettingsFolder(
            """
            postgres: { url: "postgres://a/b" }
            kafka: { brokers: "a:1", properties: [debug=all] }
            privacy: { hashKey: geheim-geheim-geheim }
            http: { open: true }
            queue: { capacityInEvents: 5, capacityInBytes: "", policy: "" }
            log: { level: "" }
            journal: { enabled: "" }

            """
        )
        let variables = [
            "DATABASE_URL", "DATABASE_URL_FILE", "KAFKA_BROKERS", "SLUICE_KAFKA_PROPERTIES", "SLUICE_PRIVACY_HASH_KEY",
            "SLUICE_HTTP_OPEN", "SLUICE_QUEUE_CAPACITY_IN_EVENTS",
        ]
        let environment = Dictionary(uniqueKeysWithValues: variables.map { ($0, "") })
        let shown = folder.shown("sluice.yaml", environment: environment)
        for (name, value, line) in [
            ("kafka.brokers", .text("a:1"), 2), ("kafka.properties", .list(["debug=all"]), 2),
            ("privacy.hashKey", .text("***"), 3), ("http.open", .flag(true), 4),
            ("queue.capacityInEvents", .number(5), 5),
        ] as [(String, SettingValue, Int)] {
            #expect(shown[name] == SettingsFolder.Shown(value, "file", "sluice.yaml:\(line)"), "\(name)")
        }
        #expect(shown["postgres.url"]?.place == "sluice.yaml:1")
        for name in ["queue.capacityInBytes", "queue.policy", "log.level", "journal.enabled"] {
            #expect(shown[name]?.source == "default", "\(name)")
        }
    }

    @Test("a password in the connection overrides the password file only if its source has higher precedence")
    func passwordFile() throws {
        // A file that is not used is not read either.
        let folder = try SettingsFolder("postgres: { url: 'postgres://u:geheim@a/b', passwordFile: none }")
        let unread = "the file 'none' cannot be read [invalid-value]"
        for (environment, problem) in [
            (["DATABASE_URL": "postgres://u:geheim@a/b"], nil),
            (["DATABASE_URL": "host=a password=geheim"], nil),
            (["DATABASE_URL": "postgres://u@a/b"], "sluice.yaml:1:59: error: postgres.passwordFile: \(unread)"),
            ([:], "sluice.yaml:1:59: error: postgres.passwordFile: \(unread)"),
            (["SLUICE_POSTGRES_PASSWORD_FILE": "none"], "error: SLUICE_POSTGRES_PASSWORD_FILE: \(unread)"),
        ] {
            #expect(folder.problems("sluice.yaml", environment: environment) == (problem.map { [$0] } ?? []))
        }
    }

    @Test("a timeout out of range is one problem, and a lock timeout that is too long for the delivery is another")
    func timeouts() throws {
        let folder = try SettingsFolder()
        for (environment, problem) in [
            (
                ["DATABASE_URL": "postgres://a/b", "SLUICE_POSTGRES_TIMEOUTS_LOCK_SECONDS": "60"],
                "error: SLUICE_POSTGRES_TIMEOUTS_LOCK_SECONDS: expected less than postgres.timeouts.deliverySeconds, which"
                    + " is 60.0 seconds [invalid-value]"
            ),
            (
                [
                    "DATABASE_URL": "postgres://a/b", "SLUICE_POSTGRES_TIMEOUTS_LOCK_SECONDS": "0",
                    "SLUICE_POSTGRES_TIMEOUTS_DELIVERY_SECONDS": "2",
                ],
                "error: SLUICE_POSTGRES_TIMEOUTS_LOCK_SECONDS: expected a whole number from 1 to 86400, found 0"
                    + " [invalid-value]"
            ),
            (
                // Also without a database.
                ["SLUICE_POSTGRES_TIMEOUTS_CONNECT_SECONDS": "0"],
                "error: SLUICE_POSTGRES_TIMEOUTS_CONNECT_SECONDS: expected a whole number from 1 to 86400, found 0"
                    + " [invalid-value]"
            ),
        ] {
            #expect(folder.problems(environment: environment) == [problem])
        }
    }

    @Test("a secret may be in a file, and a source with precedence overrides it")
    func secretFiles() throws {
        let folder = try SettingsFolder("postgres: { urlFile: none }")
        try folder.write("postgres://db.example/file\n", to: "url.txt")
        // A line separator of Unicode does not end a line.
        try folder.write("# a comment\r\nsasl.password=ge\u{2028}heim\n\nclient.id=shop\n", to: "kafka.properties")
        try folder.write("sasl.password\nclient.id=a\n", to: "wrong.properties")
        try folder.write("", to: "empty.txt")
        let valid = [
            "DATABASE_URL_FILE": "~url.txt", "KAFKA_BROKERS": "a:1",
            "SLUICE_KAFKA_PROPERTIES_FILE": "~kafka.properties",
        ]
        #expect(folder.problems(environment: valid).isEmpty)
        for (environment, problem) in [
            (
                ["DATABASE_URL_FILE": "~url.txt", "DATABASE_URL": "postgres://a/b"],
                "error: DATABASE_URL: set only one of postgres.url and postgres.urlFile [conflicting-settings]"
            ),
            (["DATABASE_URL_FILE": "none"], "error: DATABASE_URL_FILE: the file 'none' cannot be read [invalid-value]"),
            (
                ["DATABASE_URL_FILE": "~empty.txt"],
                "error: DATABASE_URL_FILE: the file 'empty.txt' is empty [invalid-value]"
            ),
            (
                ["KAFKA_BROKERS": "a:1", "SLUICE_KAFKA_PROPERTIES_FILE": "~wrong.properties"],
                "wrong.properties:1:1: error: expected name=value [invalid-syntax]"
            ),
            (
                valid.merging(["SLUICE_KAFKA_PROPERTIES": "client.id=b"]) { $1 },
                "kafka.properties:4:1: error: the property 'client.id' has a value already [duplicate-key]"
            ),
            (
                [
                    "KAFKA_BROKERS": "a:1", "SLUICE_KAFKA_TIMEOUTS_DELIVERY_SECONDS": "5",
                    "SLUICE_KAFKA_PROPERTIES": "message.timeout.ms=1",
                ],
                "error: SLUICE_KAFKA_TIMEOUTS_DELIVERY_SECONDS: set either this or the property 'message.timeout.ms',"
                    + " not both [conflicting-settings]"
            ),
        ] {
            #expect(folder.problems(environment: environment) == [problem])
        }
        // The environment has precedence over the file.
        #expect(folder.problems("sluice.yaml", environment: ["DATABASE_URL": "postgres://a/b"]).isEmpty)
        #expect(folder.problems("sluice.yaml").count == 1)
    }

    // MARK: Kafka

    @Test(
        "of a property in kafka.properties and in kafka.propertiesFile, the source with precedence counts",
        arguments: [
            ("properties: [client.id=a]", ["SLUICE_KAFKA_PROPERTIES_FILE": "~kafka.properties"], "shop", nil),
            ("propertiesFile: kafka.properties", ["SLUICE_KAFKA_PROPERTIES": "client.id=a"], "a", nil),
            (
                "properties: [client.id=a], propertiesFile: kafka.properties", [:], "a",
                "kafka.properties:1:1: error: the property 'client.id' has a value already [duplicate-key]"
            ),
            (
                "properties: [client.id=a]", ["SLUICE_KAFKA_PROPERTIES_FILE": "~twice.properties"], "shop",
                "twice.properties:2:1: error: the property 'client.id' has a value already [duplicate-key]"
            ),
        ]
    )
    func propertyPrecedence(settings: String, environment: [String: String], used: String, problem: String?) throws {
        let folder = try SettingsFolder()
        let paths = settings.replacing("File: ", with: "File: \(folder.path)")
        try folder.write("kafka: { brokers: 'a:1', \(paths) }", to: "sluice.yaml")
        try folder.write("client.id=shop\nmessage.timeout.ms=5000\n", to: "kafka.properties")
        try folder.write("client.id=shop\nclient.id=shop\n", to: "twice.properties")
        #expect(folder.problems("sluice.yaml", environment: environment) == (problem.map { [$0] } ?? []))
        let tracker = try #require(kafka(folder.reader("sluice.yaml", environment: environment)))
        #expect(tracker.properties["client.id"] == used)
    }

    @Test(
        "a property of a file that the properties or the timeout override does not come back when the file is read again"
    )
    func propertiesReadAgain() throws {
        let folder = try SettingsFolder()
        try folder.write("client.id=shop\nmessage.timeout.ms=1\nsasl.password=first\n", to: "kafka.properties")
        let environment = [
            "KAFKA_BROKERS": "a:1", "SLUICE_KAFKA_TIMEOUTS_DELIVERY_SECONDS": "5",
            "SLUICE_KAFKA_PROPERTIES": "client.id=a",
        ]
        try folder.write("kafka: { propertiesFile: '\(folder.path)kafka.properties' }", to: "sluice.yaml")
        let tracker = try #require(kafka(folder.reader("sluice.yaml", environment: environment)))
        let expected = ["client.id": "a", "message.timeout.ms": "5000", "sasl.password": "first"]
        #expect(tracker.properties == expected)
        try folder.write("client.id=shop\nmessage.timeout.ms=1\nsasl.password=second\n", to: "kafka.properties")
        #expect(try tracker.readChangingProperties?() == ["sasl.password": "second"])
    }

    @Test("neither name of the delivery timeout comes back from a file if another setting states one of them")
    func timeoutReadAgain() throws {
        let folder = try SettingsFolder()
        try folder.write("client.id=shop\n", to: "kafka.properties")
        let file = "kafka: { timeouts: { deliverySeconds: 5 }, propertiesFile: '\(folder.path)kafka.properties' }"
        try folder.write(file, to: "sluice.yaml")
        let environment = ["KAFKA_BROKERS": "a:1", "SLUICE_KAFKA_PROPERTIES": "delivery.timeout.ms=7"]
        let tracker = try #require(kafka(folder.reader("sluice.yaml", environment: environment)))
        try folder.write("client.id=shop\nmessage.timeout.ms=1\n", to: "kafka.properties")
        #expect(try tracker.readChangingProperties?() == ["client.id": "shop"])
    }

    @Test("of kafka.timeouts.deliverySeconds and the property for it, the source with precedence counts")
    func deliveryTimeoutPrecedence() throws {
        let folder = try SettingsFolder()
        try folder.write("message.timeout.ms=7\n", to: "seven.properties")
        let seconds = ["SLUICE_KAFKA_TIMEOUTS_DELIVERY_SECONDS": "5"]
        for (settings, environment, options, used) in [
            ("properties: [message.timeout.ms=7]", seconds, [:], ["message.timeout.ms": "5000"]),
            ("properties: [delivery.timeout.ms=7]", seconds, [:], ["message.timeout.ms": "5000"]),
            ("propertiesFile: \(folder.path)seven.properties", seconds, [:], ["message.timeout.ms": "5000"]),
            ("", seconds, [.kafkaProperties: .list(["message.timeout.ms=7"])], ["message.timeout.ms": "7"]),
            (
                "", seconds, [.kafkaPropertiesFile: .text(folder.path + "seven.properties")],
                ["message.timeout.ms": "7"]
            ),
            (
                "timeouts: { deliverySeconds: 5 }", ["SLUICE_KAFKA_PROPERTIES": "delivery.timeout.ms=7"], [:],
                ["delivery.timeout.ms": "7"]
            ),
        ] as [(String, [String: String], [SettingKey: SettingValue], [String: String])] {
            try folder.write("kafka: { brokers: '127.0.0.1:1', \(settings) }", to: "sluice.yaml")
            let reader = folder.reader("sluice.yaml", environment: environment, options: options)
            #expect(kafka(reader)?.properties == used, "\(settings)")
            #expect(folder.problems("sluice.yaml", environment: environment, options: options).isEmpty)
        }
        let both = "set either this or the property 'message.timeout.ms', not both [conflicting-settings]"
        for properties in ["properties: [message.timeout.ms=1]", "propertiesFile: \(folder.path)seven.properties"] {
            try folder.write(
                "kafka: { brokers: 'a:1', timeouts: { deliverySeconds: 5 }, \(properties) }",
                to: "sluice.yaml"
            )
            let expected = "sluice.yaml:1:55: error: kafka.timeouts.deliverySeconds: \(both)"
            #expect(folder.problems("sluice.yaml") == [expected])
        }
    }

    @Test("a property that is listed twice in kafka.properties is a problem, which says nothing of its value")
    func propertyTwice() throws {
        let folder = try SettingsFolder(
            "kafka: { brokers: 'a:1', properties: [sasl.password=geheim, sasl.password=geheim] }"
        )
        let problem = "the property 'sasl.password' is listed twice [duplicate-key]"
        #expect(folder.problems("sluice.yaml") == ["sluice.yaml:1:38: error: kafka.properties: \(problem)"])
    }

    @Test("decimals as numbers are a problem beside the protocol 'lines', which has no use for the setting")
    func unusedDecimals() throws {
        let folder = try SettingsFolder(
            """
            trackers:
              crm: { type: exec, command: [x], singer: { decimals: numbers } }
              plain: { type: exec, command: [x], singer: { decimals: strings } }
              lake: { type: exec, command: [x], protocol: singer, singer: { decimals: numbers } }
            exec: { command: [x], protocol: lines, singer: { decimals: numbers } }
            """
        )
        let remedy = "to singer, or remove this [conflicting-settings]"
        #expect(
            Set(folder.problems("sluice.yaml")) == [
                "sluice.yaml:2:56: error: trackers.crm.singer.decimals: "
                    + "only Singer targets use it; set trackers.crm.protocol \(remedy)",
                "sluice.yaml:5:60: error: exec.singer.decimals: "
                    + "only Singer targets use it; set exec.protocol \(remedy)",
            ]
        )
    }

    private func kafka(_ reader: SettingsReader) -> KafkaConfiguration? {
        reader.trackers().lazy.compactMap { $0.configuration(of: KafkaTracker.self) }.first
    }
}
