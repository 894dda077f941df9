import SettingDefinitions
import SluiceSettings
import Testing

/// What is printed of settings that contain secrets.
@Suite("Settings as they are shown")
struct ShownSettingTests {
    @Test("secrets are replaced, also within a connection and in properties")
    func secrets() throws {
        let folder = try SettingsFolder(
            """
            postgres: { url: "postgres://u:geheim@db.example/x?sslmode=require&password=geheim" }
            kafka: { brokers: "a:1", properties: [sasl.password=geheim, debug=all, ssl.key.pem=geheim] }
            privacy: { hashKey: geheim-geheim-geheim }
            trackers:
              warehouse: { type: postgres, url: "host=db.example user=u password='ge\\\\'heim geheim'" }

            """
        )
        let shown = folder.shown("sluice.yaml", environment: ["SLUICE_ADMIN_TOKEN": "geheim-geheim-geheim"])
        #expect(!shown.values.contains { $0.value.description.contains("heim") })
        for (name, value) in [
            ("postgres.url", .text("host=db.example dbname=x user=u sslmode=require password=***")),
            ("trackers.warehouse.url", .text("host=db.example user=u password=***")),
            ("kafka.properties", .list(["sasl.password=***", "debug=all", "ssl.key.pem=***"])),
            ("admin.token", .text("***")), ("privacy.hashKey", .text("***")),
        ] as [(String, SettingValue)] {
            #expect(shown[name]?.value == value, "\(name)")
        }
    }

    @Test("the limits and defaults are shown that a tracker has because of its other settings")
    func dependentDefaults() throws {
        let file = """
            exec: { command: [target], protocol: singer }
            trackers:
              lake: { type: exec, command: [target], protocol: singer, delivery: { lingerMilliseconds: 5 } }
              plain: { type: exec, command: [program] }
            """
        let shown = try SettingsFolder(file).shown("sluice.yaml")
        for (name, value) in [
            ("trackers.exec.delivery.maximumEvents", .init(.number(100_000))),
            ("trackers.exec.delivery.lingerMilliseconds", .init(.number(30_000))),
            ("exec.timeouts.deliverySeconds", .init(.number(900))),
            ("exec.protocol", .init(.text("singer"), "file", "sluice.yaml:1")),
            ("trackers.lake.delivery.maximumEvents", .init(.number(100_000))),
            ("trackers.lake.delivery.lingerMilliseconds", .init(.number(5), "file", "sluice.yaml:3")),
            ("trackers.lake.timeouts.deliverySeconds", .init(.number(900))),
            ("trackers.lake.singer.decimals", .init(.text("strings"))),
            ("trackers.plain.delivery.maximumEvents", .init(.number(10_000))),
            ("trackers.plain.timeouts.deliverySeconds", .init(.number(60))),
            ("trackers.plain.protocol", .init(.text("lines"))), ("delivery.maximumEvents", .init(.number(10_000))),
        ] as [(String, SettingsFolder.Shown)] {
            #expect(shown[name] == value, "\(name)")
        }
        let general = try SettingsFolder(file + "\ndelivery: { maximumEvents: 9 }").shown("sluice.yaml")
        #expect(general["trackers.lake.delivery.maximumEvents"] == .init(.number(9), "file", "sluice.yaml:5"))
        #expect(try SettingsFolder().shown()["exec.timeouts.deliverySeconds"] == .init(.number(60)))
    }

    @Test("every setting that may be secret is shown without the secret")
    func everySecret() throws {
        let folder = try SettingsFolder()
        let secrets = SettingCatalog.keys.filter(\.isSecret)
        #expect(secrets.count >= 4)
        // An equals sign and an accent after it are one character.
        let list = ["program", "token=geheim", "token=\u{301}geheim", "token=\u{301}geheim=x"]
        for key in secrets {
            let value: SettingValue = key.kind == .list ? .list(list) : .text("user=u geheim='geheim'")
            let shown = folder.shown(options: [key: value])[key.name]
            #expect(shown?.value.description.contains("geheim") == false, "\(key.name)")
        }
    }

    @Test(
        "only the parts of a connection that are known to be harmless are shown",
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
    func connections(connection: String, printed: String) throws {
        let shown = try SettingsFolder().shown(environment: ["DATABASE_URL": connection])
        #expect(shown["postgres.url"]?.value == .text(printed))
    }

    @Test("only the values of properties that are known to be harmless are shown")
    func properties() throws {
        let properties = ["client.id=a", "sasl.oauthbearer.method=oidc", "Debug=topsecret", "plugin=topsecret", "none"]
        let environment = ["SLUICE_KAFKA_PROPERTIES": properties.joined(separator: ";")]
        let printed = ["client.id=a", "sasl.oauthbearer.method=***", "Debug=***", "plugin=***", "***"]
        #expect(try SettingsFolder().shown(environment: environment)["kafka.properties"]?.value == .list(printed))
    }

    @Test(
        "the places of the files for TLS are shown, of the server, PostgreSQL and Kafka"
    )
    func tlsFiles() throws {
        let folder = try SettingsFolder(
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

            """
        )
        let environment = ["SLUICE_HTTP_TLS_CLIENT_AUTHORITIES": "clients.pem"]
        let shown = folder.shown("sluice.yaml", environment: environment)
        #expect(shown["http.tls.certificate"] == .init(.text("server.pem"), "file", "sluice.yaml:1"))
        #expect(shown["http.tls.privateKey"] == .init(.text("server.key"), "file", "sluice.yaml:1"))
        #expect(
            shown["http.tls.clientAuthorities"]
                == .init(.text("clients.pem"), "environment", "SLUICE_HTTP_TLS_CLIENT_AUTHORITIES")
        )
        #expect(
            shown["postgres.url"]?.value
                == .text("host=db dbname=x sslmode=verify-full sslrootcert=pg.pem sslpassword=***")
        )
        let properties = [
            "security.protocol=ssl", "ssl.ca.location=kafka.pem", "ssl.certificate.location=client.pem",
            "ssl.key.location=client.key", "ssl.key.password=***", "ssl.certificate.pem=***",
        ]
        #expect(shown["kafka.properties"]?.value == .list(properties))
        let none = folder.shown()
        for name in ["certificate", "privateKey", "clientAuthorities"] {
            #expect(none["http.tls.\(name)"] == .init(.text("none")))
        }
    }
}
