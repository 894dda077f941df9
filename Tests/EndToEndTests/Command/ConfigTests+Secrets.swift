import Foundation
import Testing

/// Secrets in settings.
extension ConfigTests {
    @Test("show replaces secrets, also within a connection and in properties")
    func secrets() async throws {
        let folder = try TestFolder()
        try folder.write(
            """
            postgres: { url: "postgres://u:geheim@db.example/x?sslmode=require&password=geheim" }
            kafka: { brokers: "a:1", properties: [sasl.password=geheim, debug=all, ssl.key.pem=geheim] }
            privacy: { hashKey: geheim-geheim-geheim }
            trackers:
              warehouse: { type: postgres, url: "host=db.example user=u password='ge\\\\'heim geheim'" }

            """,
            to: "sluice.yaml"
        )
        let environment = ["SLUICE_ADMIN_TOKEN": "geheim-geheim-geheim"]
        let arguments = ["config", "show", "--config", "sluice.yaml"]
        for options in [[], ["--json"]] {
            let run = try await Sluice.run(arguments + options, in: folder, environment: environment)
            #expect(run.ending == .exit(0), "\(run.errors)")
            #expect(!run.output.joined().contains("heim"))
        }
        let shown = try await settings(["--config", "sluice.yaml"], in: folder, environment: environment)
        #expect(
            shown["postgres.url"]?.value == "host=db.example dbname=x user=u sslmode=require password=***"
        )
        #expect(shown["trackers.warehouse.url"]?.value == "host=db.example user=u password=***")
        #expect(shown["kafka.properties"]?.value == "[sasl.password=***, debug=all, ssl.key.pem=***]")
        #expect(shown["admin.token"]?.value == "***")
        #expect(shown["privacy.hashKey"]?.value == "***")
    }

    @Test(
        "show prints only the parts of a connection that are known to be harmless",
        arguments: [
            ("host=h user=u password=ab&cdefgh", "host=h user=u password=***"),
            (#"password=ab\ topsecret"#, "password=***"),
            ("postgres://u@h/db?pass%77ord=topsecret", "host=h dbname=db user=u password=***"),
            (" postgres://u:topsecret@h/db", "***"),
            ("postgres://u:top/secret@h/db", "***"),
            ("postgres://u:top@secret@h/db", "***"),
            ("host=h dbname=postgres://u:topsecret@h/db", "***"),
            ("host=h options='-c a.b=topsecret' sslkey=k", "host=h options=*** sslkey=***"),
            (#"host='' application_name='it\'s one'"#, #"host='' application_name='it\'s one'"#),
            ("postgresql:///db?host=/run/a&port=5433", "host=/run/a port=5433 dbname=db"),
        ]
    )
    func connections(connection: String, printed: String) async throws {
        let environment = ["DATABASE_URL": connection]
        #expect(try await settings([], in: TestFolder(), environment: environment)["postgres.url"]?.value == printed)
    }

    @Test("show prints only the values of properties that are known to be harmless")
    func properties() async throws {
        let properties = ["client.id=a", "sasl.oauthbearer.method=oidc", "Debug=topsecret", "plugin=topsecret", "none"]
        let environment = ["SLUICE_KAFKA_PROPERTIES": properties.joined(separator: ";")]
        let shown = try await settings([], in: TestFolder(), environment: environment)
        let printed = "[client.id=a, sasl.oauthbearer.method=***, Debug=***, plugin=***, ***]"
        #expect(shown["kafka.properties"]?.value == printed)
    }

    @Test("show prints where the files for TLS are, of the server, PostgreSQL and Kafka, and nothing of their content")
    func tlsFiles() async throws {
        let folder = try TestFolder()
        try folder.write("geheim", to: "server.key")
        try folder.write(
            """
            http: { tls: { certificate: server.pem, privateKey: server.key } }
            postgres: { url: "postgres://db/x?sslmode=verify-full&sslrootcert=pg.pem&sslpassword=geheim" }
            kafka:
              brokers: "a:1"
              properties:
                - security.protocol=ssl
                - ssl.ca.location=kafka.pem
                - ssl.certificate.location=client.pem
                - ssl.key.location=client.key
                - ssl.key.password=geheim
                - ssl.certificate.pem=geheim

            """,
            to: "sluice.yaml"
        )
        let environment = ["SLUICE_HTTP_TLS_CLIENT_AUTHORITIES": "clients.pem"]
        let shown = try await settings(["--config", "sluice.yaml"], in: folder, environment: environment)
        #expect(shown["http.tls.certificate"] == Shown(value: "server.pem", source: "file", place: "sluice.yaml:1"))
        #expect(shown["http.tls.privateKey"] == Shown(value: "server.key", source: "file", place: "sluice.yaml:1"))
        #expect(
            shown["http.tls.clientAuthorities"]
                == Shown(value: "clients.pem", source: "environment", place: "SLUICE_HTTP_TLS_CLIENT_AUTHORITIES")
        )
        #expect(
            shown["postgres.url"]?.value
                == "host=db dbname=x sslmode=verify-full sslrootcert=pg.pem sslpassword=***"
        )
        let properties = [
            "security.protocol=ssl", "ssl.ca.location=kafka.pem", "ssl.certificate.location=client.pem",
            "ssl.key.location=client.key", "ssl.key.password=***", "ssl.certificate.pem=***",
        ]
        #expect(shown["kafka.properties"]?.value == "[\(properties.joined(separator: ", "))]")
        let none = try await settings([], in: folder)
        for key in ["certificate", "privateKey", "clientAuthorities"] {
            #expect(none["http.tls.\(key)"] == Shown(value: "none", source: "default", place: nil))
        }
    }

    @Test("the password in a connection counts if its source has precedence over that of postgres.passwordFile")
    func passwordFile() async throws {
        let folder = try TestFolder()
        // A file that is not used is not read either.
        try folder.write("postgres: { url: 'postgres://u:geheim@a/b', passwordFile: none }", to: "sluice.yaml")
        let unread = "the file 'none' cannot be read [invalid-value]"
        for (environment, problem) in [
            (["DATABASE_URL": "postgres://u:geheim@a/b"], nil),
            (["DATABASE_URL": "host=a password=geheim"], nil),
            (["DATABASE_URL": "postgres://u@a/b"], "sluice.yaml:1:59: error: postgres.passwordFile: \(unread)"),
            ([:], "sluice.yaml:1:59: error: postgres.passwordFile: \(unread)"),
            (["SLUICE_POSTGRES_PASSWORD_FILE": "none"], "error: SLUICE_POSTGRES_PASSWORD_FILE: \(unread)"),
        ] {
            let arguments = ["config", "check", "--config", "sluice.yaml"]
            let run = try await Sluice.run(arguments, in: folder, environment: environment)
            #expect(run.output == [problem ?? "sluice.yaml: no problems"])
        }
    }

    @Test("of a property in kafka.properties and in kafka.propertiesFile, the source with precedence wins")
    func propertyPrecedence() async throws {
        let folder = try TestFolder()
        try folder.write("client.id=shop\nmessage.timeout.ms=5000\n", to: "kafka.properties")
        try folder.write("client.id=shop\nclient.id=shop\n", to: "twice.properties")
        let check = ["config", "check", "--config", "sluice.yaml"]
        let valid = ["sluice.yaml: no problems"]
        for (settings, environment, output) in [
            (
                "properties: [client.id=a]", ["SLUICE_KAFKA_PROPERTIES_FILE": "kafka.properties"], valid
            ),
            (
                "propertiesFile: kafka.properties", ["SLUICE_KAFKA_PROPERTIES": "client.id=a"], valid
            ),
            (
                "properties: [client.id=a], propertiesFile: kafka.properties", [:],
                ["kafka.properties:1:1: error: the property 'client.id' has a value already [duplicate-key]"]
            ),
            (
                "properties: [client.id=a]", ["SLUICE_KAFKA_PROPERTIES_FILE": "twice.properties"],
                ["twice.properties:2:1: error: the property 'client.id' has a value already [duplicate-key]"]
            ),
        ] {
            try folder.write("kafka: { brokers: 'a:1', \(settings) }", to: "sluice.yaml")
            let run = try await Sluice.run(check, in: folder, environment: environment)
            #expect(run.output == output)
        }
        // Of two values the one that is used must be valid.
        try folder.write("linger.ms=never\n", to: "invalid.properties")
        try folder.write("linger.ms=1\n", to: "valid.properties")
        for (settings, environment, isValid) in [
            ("properties: [linger.ms=never]", ["SLUICE_KAFKA_PROPERTIES_FILE": "valid.properties"], true),
            ("properties: [linger.ms=1]", ["SLUICE_KAFKA_PROPERTIES_FILE": "invalid.properties"], false),
            ("propertiesFile: invalid.properties", ["SLUICE_KAFKA_PROPERTIES": "linger.ms=1"], true),
            ("propertiesFile: valid.properties", ["SLUICE_KAFKA_PROPERTIES": "linger.ms=never"], false),
        ] {
            try folder.write(
                "kafka: { brokers: '127.0.0.1:1', \(settings), timeouts: { metadataSeconds: 1 } }",
                to: "sluice.yaml"
            )
            let arguments = ["check", "--events", Sluice.plan, "--timeout", "8", "--config", "sluice.yaml"]
            let run = try await Sluice.run(arguments, in: folder, environment: environment)
            #expect(run.output.contains { $0.contains("[invalid-settings]") } != isValid, "\(run.output)")
        }
    }

    @Test("of kafka.timeouts.deliverySeconds and the property for it, the source with precedence wins")
    func deliveryTimeoutPrecedence() async throws {
        let folder = try TestFolder()
        // The value that is used is found out by its validity.
        try folder.write("message.timeout.ms=never\n", to: "invalid.properties")
        let seconds = ["SLUICE_KAFKA_TIMEOUTS_DELIVERY_SECONDS": "5"]
        for (settings, environment, options, isValid) in [
            ("properties: [message.timeout.ms=never]", seconds, [], true),
            ("properties: [delivery.timeout.ms=never]", seconds, [], true),
            ("propertiesFile: invalid.properties", seconds, [], true),
            ("", seconds, ["--kafka-property", "message.timeout.ms=never"], false),
            ("", seconds, ["--kafka-properties-file", "invalid.properties"], false),
            (
                "timeouts: { deliverySeconds: 5 }", ["SLUICE_KAFKA_PROPERTIES": "delivery.timeout.ms=never"],
                [], false
            ),
        ] {
            try folder.write("kafka: { brokers: '127.0.0.1:1', \(settings) }", to: "sluice.yaml")
            let more = ["SLUICE_KAFKA_TIMEOUTS_METADATA_SECONDS": "1"]
            let run = try await Sluice.run(
                ["check", "--events", Sluice.plan, "--timeout", "8", "--config", "sluice.yaml"] + options,
                in: folder,
                environment: environment.merging(more) { $1 }
            )
            #expect(run.output.contains { $0.contains("[invalid-settings]") } != isValid, "\(settings): \(run.output)")
            #expect(!(run.output + run.errors).contains { $0.contains("[conflicting-settings]") })
        }
        let both = "set either this or the property 'message.timeout.ms', not both [conflicting-settings]"
        for properties in ["properties: [message.timeout.ms=1]", "propertiesFile: invalid.properties"] {
            try folder.write(
                "kafka: { brokers: 'a:1', timeouts: { deliverySeconds: 5 }, \(properties) }",
                to: "sluice.yaml"
            )
            let run = try await Sluice.run("config", "check", "--config", "sluice.yaml", in: folder)
            #expect(run.output == ["sluice.yaml:1:55: error: kafka.timeouts.deliverySeconds: \(both)"])
        }
    }

    @Test("a property that is listed twice in kafka.properties is a problem")
    func propertyTwice() async throws {
        let folder = try TestFolder()
        try folder.write(
            "kafka: { brokers: 'a:1', properties: [sasl.password=geheim, sasl.password=geheim] }",
            to: "sluice.yaml"
        )
        let run = try await Sluice.run("config", "check", "--config", "sluice.yaml", in: folder)
        let problem = "the property 'sasl.password' is listed twice [duplicate-key]"
        #expect(run.output == ["sluice.yaml:1:38: error: kafka.properties: \(problem)"])
    }

    @Test("a secret may be in a file, and a source with precedence overrides it")
    func secretFiles() async throws {
        let folder = try TestFolder()
        try folder.write("postgres://db.example/file\n", to: "url.txt")
        try folder.write("# a comment\nsasl.password=geheim\n\nclient.id=shop\n", to: "kafka.properties")
        try folder.write("sasl.password\nclient.id=a\n", to: "wrong.properties")
        try folder.write("", to: "empty.txt")
        func check(_ environment: [String: String]) async throws -> Finished {
            try await Sluice.run("config", "check", in: folder, environment: environment)
        }
        let valid = [
            "DATABASE_URL_FILE": "url.txt", "KAFKA_BROKERS": "a:1", "SLUICE_KAFKA_PROPERTIES_FILE": "kafka.properties",
        ]
        #expect(try await check(valid).ending == .exit(0))
        for (environment, problem) in [
            (
                ["DATABASE_URL_FILE": "url.txt", "DATABASE_URL": "postgres://a/b"],
                "error: DATABASE_URL: set only one of postgres.url and postgres.urlFile [conflicting-settings]"
            ),
            (["DATABASE_URL_FILE": "none"], "error: DATABASE_URL_FILE: the file 'none' cannot be read [invalid-value]"),
            (
                ["DATABASE_URL_FILE": "empty.txt"],
                "error: DATABASE_URL_FILE: the file 'empty.txt' is empty [invalid-value]"
            ),
            (
                ["KAFKA_BROKERS": "a:1", "SLUICE_KAFKA_PROPERTIES_FILE": "wrong.properties"],
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
            (
                ["DATABASE_URL": "postgres://a/b", "SLUICE_POSTGRES_TIMEOUTS_LOCK_SECONDS": "60"],
                "error: SLUICE_POSTGRES_TIMEOUTS_LOCK_SECONDS: expected less than postgres.timeouts.deliverySeconds, which"
                    + " is 60.0 seconds [invalid-value]"
            ),
            (
                // Also without a database.
                ["SLUICE_POSTGRES_TIMEOUTS_CONNECT_SECONDS": "0"],
                "error: SLUICE_POSTGRES_TIMEOUTS_CONNECT_SECONDS: expected a whole number from 1 to 86400, found 0"
                    + " [invalid-value]"
            ),
        ] {
            #expect(try await check(environment).output == [problem])
        }
        // The environment has precedence over the file.
        try folder.write("postgres: { urlFile: none }", to: "sluice.yaml")
        let arguments = ["config", "check", "--config", "sluice.yaml"]
        let overridden = try await Sluice.run(arguments, in: folder, environment: ["DATABASE_URL": "postgres://a/b"])
        #expect(overridden.ending == .exit(0))
        #expect(try await Sluice.run(arguments, in: folder).ending == .exit(1))
    }
}
