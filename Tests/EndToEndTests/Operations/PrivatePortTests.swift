import Foundation
import ServerTestSupport
import TestPromises
import Testing

@Suite("The private port of serve", .timeLimit(.minutes(5)))
struct PrivatePortTests {
    private static let token = "a token for the tests"

    @Test("can be switched off")
    func off() async throws {
        let server = try await ServingSluice.start(["--no-admin"], in: TestFolder())
        #expect(!server.process.errors.lines.contains { $0.contains("private port") })
        #expect(try await server.request("/metrics").status == 404)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test("on an address that other machines reach needs a token, which comes from a file")
    func publicAddress() async throws {
        let folder = try TestFolder()
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--events", Sluice.plan, "--admin", "0.0.0.0:0"]
        let refused = try await Sluice.run(arguments, in: folder)
        #expect(refused.ending == .exit(1))
        #expect(refused.errors.last?.contains("Set admin.tokenFile") == true, "\(refused.errors)")
        try folder.write("short\n", to: "short.txt")
        let short = try await Sluice.run(arguments, in: folder, environment: ["SLUICE_ADMIN_TOKEN_FILE": "short.txt"])
        #expect(short.errors.last?.contains("at least 16 bytes") == true, "\(short.errors)")
        #expect(short.errors.last?.contains("short\n") == false)

        try folder.write(Self.token + "\n", to: "token.txt")
        let server = try await ServingSluice.start(
            ["--admin", "0.0.0.0:0"],
            in: folder,
            environment: ["SLUICE_ADMIN_TOKEN_FILE": "token.txt"]
        )
        let port = try await PrivatePort(of: server)
        #expect(try await port.request("/metrics").status == 401)
        #expect(try await port.request("/metrics", "-H", "Authorization: Bearer \(Self.token)").status == 200)
        #expect(try await port.request("/livez").status == 200)
        let cookies = folder.path("cookies.txt")
        let form = ["--data-urlencode", "token=\(Self.token)"]
        #expect(try await port.request("/login", form[0], form[1], "-c", cookies).status == 303)
        #expect(try await port.request("/readyz", "-b", cookies).status == 200)
        #expect(try await port.request("/logout", "-X", "POST", "-b", cookies).status == 303)
        #expect(try await port.request("/readyz", "-b", cookies).status == 401)
        #expect(!server.process.errors.lines.contains { $0.contains(Self.token) })
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test("lets a person in and out with a browser")
    func browser() async throws {
        let folder = try TestFolder()
        let environment = ["SLUICE_ADMIN_TOKEN": Self.token]
        let server = try await ServingSluice.start([], in: folder, environment: environment)
        let port = try await PrivatePort(of: server)
        #expect(try await ClientScript.run("login", [port.url, Self.token], in: folder) == ["/login", "/", "/login"])
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test("who goes away, asks only for the head of a tail, or does not read keeps no place and no shutdown")
    func tails() async throws {
        let folder = try TestFolder()
        let server = try await ServingSluice.start([], in: folder)
        let port = try await PrivatePort(of: server)
        for _ in 0..<17 { #expect(try await port.request("/v1/tail", "-I").status == 200) }
        let address = port.url.dropFirst("http://".count).replacing(":", with: "/")
        let request = #"GET /v1/tail HTTP/1.1\r\nHost: localhost\r\n\r\n"#
        // Each reads the status and the first comment, and closes.
        let visit =
            "exec {fd}<>/dev/tcp/\(address); printf '\(request)' >&$fd; while read -r line <&$fd; do "
            + "[[ $line == *nothing* ]] && break; done; exec {fd}>&-"
        _ = try await Command.run("bash", ["-c", "for i in $(seq 16); do \(visit); done"])
        // The places are free again once the process has noticed.
        func status() async throws -> Int {
            let get =
                "exec {fd}<>/dev/tcp/\(address); printf '\(request)' >&$fd; read -r version status rest <&$fd; echo $status"
            return Int(try await Command.run("bash", ["-c", get]).text.trimmingCharacters(in: .whitespacesAndNewlines))
                ?? 0
        }
        while try await status() != 200 { try await waitBriefly() }
        // Never reads.
        let input = Pipe()
        let silent = try SluiceProcess(
            ["-c", "exec {fd}<>/dev/tcp/\(address); printf '\(request)' >&$fd; echo sent; read"],
            executable: URL(fileURLWithPath: "/bin/bash"),
            in: folder,
            input: .pipe(input)
        )
        _ = try await silent.output?.line(containing: "sent")
        let day = ["-H", "Content-Encoding: gzip", "-H", "Content-Type: application/x-ndjson"]
        for _ in 0..<3 {
            #expect(
                try await server.request("/v1/events", day + ["--data-binary", "@" + RetailMonth.dayPath]).status == 200
            )
        }
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        try input.fileHandleForWriting.close()
    }

    @Test("refuses foreign names and foreign pages")
    func foreign() async throws {
        let server = try await ServingSluice.start([], in: TestFolder())
        let port = try await PrivatePort(of: server)
        #expect(try await port.request("/metrics").status == 200)
        #expect(try await port.request("/metrics", "-H", "Host: sluice.example").status == 403)
        #expect(try await port.request("/metrics", "-H", "Origin: http://shop.example").status == 403)
        #expect(try await port.request("/logout", "-X", "POST", "-H", "Origin: http://shop.example").status == 403)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test("taking all connections of the private port does not delay events")
    func connections() async throws {
        let folder = try TestFolder()
        let server = try await ServingSluice.start([], in: folder)
        let port = try await PrivatePort(of: server)
        let address = port.url.dropFirst("http://".count).replacing(":", with: "/")
        // 80 connections that send half a header.
        let hold =
            "for i in $(seq 80); do exec {fd}<>/dev/tcp/\(address); printf 'GET /metrics HT' >&$fd; done; echo held; read"
        let input = Pipe()
        let process = try SluiceProcess(
            ["-c", hold],
            executable: URL(fileURLWithPath: "/bin/bash"),
            in: folder,
            input: .pipe(input)
        )
        _ = try await process.output?.line(containing: "held")
        let compressed = ["-H", "Content-Encoding: gzip", "--data-binary", "@" + RetailMonth.dayPath]
        let type = ["-H", "Content-Type: application/x-ndjson"]
        #expect(try await server.request("/v1/events", type + compressed).status == 200)
        try input.fileHandleForWriting.close()
        _ = try await process.waitForEnd()
        // The server may learn of the next connection before it learns that these are closed.
        while try await port.request("/metrics").status != 200 { try await waitBriefly() }
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test(
        "connections without the token, however many and slow, do not delay requests of others",
        .promise("private-port-flood")
    )
    func trickle() async throws {
        let folder = try TestFolder()
        let server = try await ServingSluice.start([], in: folder, environment: ["SLUICE_ADMIN_TOKEN": Self.token])
        let port = try await PrivatePort(of: server)
        let number = try #require(port.url.split(separator: ":").last)
        let answers = try await ClientScript.run("private_port_trickle", [String(number), Self.token], in: folder)
        #expect(
            answers == [
                "operator before: 200", "another address: 200", "the same address: 200",
                "the same address with the token: 200", "operator: 200",
            ]
        )
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }
}
