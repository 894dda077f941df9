import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// Secrets that are replaced while the program runs.
@Suite("Secrets in files", .timeLimit(.minutes(5)))
struct SecretRotationTests {
    /// When a program reads each secret; the page for operators says the same.
    private static let readings = [
        "postgres.urlFile": "each connection", "postgres.passwordFile": "each connection",
        "kafka.propertiesFile": "the start, and after a failed delivery", "admin.tokenFile": "each request",
        "http.keys": "each change", "http.tls.privateKey": "each change",
        "privacy.hashKeyFile": "the start", "webhook.bearerTokenFile": "each delivery",
        "webhook.basicAuthFile": "each delivery", "webhook.signingKeyFile": "each delivery",
        "webhook.keyFile": "each delivery", "sluice.writeKeyFile": "each delivery", "socket.keyFile": "each connection",
    ]

    @Test("the page for operators says of every secret file when it is read")
    func page() async throws {
        let example = try await Sluice.output(of: ["config", "example"])
        let page = try RepositoryFile.text("Documentation/Operate/Operations.md")
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("|") }
        for (setting, reading) in Self.readings {
            let row = rows.first { $0.contains("| `\(setting)` |") }
            #expect(row?.contains("| \(reading) |") == true, "\(setting): \(row ?? "no row")")
        }
        // A new setting of a file has to be in the list above.
        let files = example.matches(of: /(?m)^\s*#?(\w+File):/).map { String($0.1) }
        #expect(!files.isEmpty)
        #expect(
            // Certificates are not secret.
            Set(files).subtracting(["caFile", "certificateFile"]).isSubset(
                of: Self.readings.keys.map { String($0.split(separator: ".").last ?? "") }
            ),
            "\(files)"
        )
    }

    @Test(
        "serve uses a new password of PostgreSQL, a new database address and a new token without a restart",
        .promise("replaced-secrets")
    )
    func serve() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1).replacing("console", with: "postgres"), to: "plan/shop.plist")
        // Of its own, because a role belongs to all databases of a server.
        let database = try await PrivatePostgres().makeDatabase()
        let migrate = ["migrate", "--events", "plan", "--postgres", database.url]
        #expect(try await Sluice.run(migrate, in: folder).ending == .exit(0))
        try await database.run(
            "CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'one'; CREATE ROLE other LOGIN SUPERUSER"
        )
        try folder.write(database.url(role: "guarded") + "\n", to: "url")
        try folder.write("one\n", to: "password")
        try folder.write("the first token of the port\n", to: "token")
        let server = try await ServingSluice.start(
            ["--no-console", "--postgres-file", "url"],
            in: folder,
            plan: "plan",
            environment: ["SLUICE_POSTGRES_PASSWORD_FILE": "password", "SLUICE_ADMIN_TOKEN_FILE": "token"]
        )
        let port = try await PrivatePort(of: server)

        func send(_ count: Int) async throws {
            #expect(try await server.post(#"{"name":"Sold","payload":{"quantity":1}}"#).status == 200)
            while try await database.run("SELECT count(*) FROM analytics.sold") != ["\(count)"] {
                try await waitBriefly()
            }
        }
        try await send(1)
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename IN ('guarded', 'other')"
        try folder.write("two\n", to: "password")
        try await database.run("ALTER ROLE guarded PASSWORD 'two'; \(end)")
        try await send(2)
        try folder.write(database.url(role: "other") + "\n", to: "url")
        try await database.run("\(end); DROP ROLE guarded")
        try await send(3)

        let old = "Authorization: Bearer the first token of the port"
        let cookies = folder.path("cookies.txt")
        let form = ["--data-urlencode", "token=the first token of the port"]
        #expect(try await port.request("/login", form[0], form[1], "-c", cookies).status == 303)
        #expect(try await port.request("/v1/status", "-H", old).status == 200)
        #expect(try await port.request("/v1/status", "-b", cookies).status == 200)
        try folder.write("another token for the port\n", to: "token")
        #expect(try await port.request("/v1/status", "-H", old).status == 401)
        #expect(try await port.request("/v1/status", "-b", cookies).status == 401)
        let new = "Authorization: Bearer another token for the port"
        #expect(try await port.request("/v1/status", "-H", new).status == 200)
        // A file that is being replaced locks nobody out.
        try FileManager.default.removeItem(atPath: folder.path("token"))
        #expect(try await port.request("/v1/status", "-H", new).status == 200)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test("serve and load use a new password of Kafka without a restart", .promise("replaced-secrets"))
    func kafka() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1).replacing("console", with: "kafka"), to: "plan/shop.plist")
        let properties = { (password: String) in
            """
            security.protocol=sasl_plaintext
            sasl.mechanism=PLAIN
            sasl.username=user
            sasl.password=\(password)
            message.timeout.ms=1000

            """
        }
        try folder.write("one", to: "valid")
        try folder.write(properties("one"), to: "properties")
        let broker = try ClientScript.start("kafka_sasl", ["shared", "1", folder.path("valid")], in: folder)
        let output = try #require(broker.output)
        let address = try await output.line(containing: "127.0.0.1:")
        let server = try await ServingSluice.start(
            [
                "--no-console", "--kafka", address, "--kafka-topic", "shared", "--kafka-properties-file", "properties",
            ],
            in: folder,
            plan: "plan"
        )
        _ = try await output.line(containing: "accepted one")
        _ = try await server.process.errors.line(containing: "The tracker has started.")
        try folder.write("two", to: "valid")
        #expect(try await server.post(#"{"name":"Sold","payload":{"quantity":1}}"#).status == 200)
        _ = try await output.line(containing: "refused one")
        try folder.write(properties("two"), to: "properties")
        _ = try await output.line(containing: "accepted two")
        server.process.send(SIGTERM)
        _ = try await server.process.waitForEnd()

        try folder.write("three", to: "valid")
        try folder.write(Plans.shop(minimumQuantity: 1), to: "printed/shop.plist")
        let load = try SluiceProcess(
            [
                "load", "--events", "printed", "--from", "kafka://\(address)/shared", "--group", "g",
                "--kafka-properties-file", "properties", "--no-admin",
            ],
            in: folder
        )
        _ = try await output.line(containing: "refused two")
        try folder.write(properties("three"), to: "properties")
        _ = try await output.line(containing: "accepted three")
        load.send(SIGTERM)
        _ = try await load.waitForEnd()
        broker.send(SIGKILL)
        _ = try await broker.waitForEnd()
    }
}
