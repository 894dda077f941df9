import Foundation
import ServerTestSupport
import TestPromises
import Testing

/// What `serve` does if one of its ports is taken, with real processes.
@Suite("The ports of serve", .timeLimit(.minutes(5)))
struct PortsTests {
    /// What is taken, and how a second process is told to use it.
    private struct Taken {
        let name: String
        let arguments: [String]
        var environment: [String: String] = [:]
        /// What the error has to say.
        let words: [String]
    }

    @Test(
        "if any of them is taken, none answers, and one error names it and says what to set",
        .promise("already-in-use")
    )
    func taken() async throws {
        let folder = try TestFolder()
        let certificate = try await TestCertificate("server", in: folder)
        let first = try await ServingSluice.start([], in: folder)
        let publicPort = String(first.url.dropFirst("http://".count))
        let privatePort = String(try await PrivatePort(of: first).url.dropFirst("http://".count))
        let tls = ["--certificate", certificate.certificate, "--private-key", certificate.privateKey]
        try folder.write("", to: "file")
        let listen = Taken(name: "public", arguments: ["--listen", publicPort], words: [publicPort, "http.listen"])
        let admin = Taken(name: "private", arguments: ["--admin", privatePort], words: [privatePort, "admin.listen"])
        let cases = [
            listen, admin, Taken(name: "TLS", arguments: listen.arguments + tls, words: listen.words),
            Taken(name: "private beside TLS", arguments: admin.arguments + tls, words: admin.words),
            Taken(
                name: "socket",
                arguments: [],
                environment: ["SLUICE_ADMIN_SOCKET": folder.path("journal.sock")],
                words: ["journal.sock", "another process uses it", "admin.socket"]
            ),
            Taken(
                name: "file in place of the socket",
                arguments: [],
                environment: ["SLUICE_ADMIN_SOCKET": folder.path("file")],
                words: ["there is another file", "admin.socket"]
            ),
        ]
        for taken in cases { try await Self.check(taken, certificate, in: folder) }
        first.process.send(SIGTERM)
        #expect(try await first.process.waitForEnd() == .exit(0))
    }

    /// Starts a second process while a client sends events to its public port.
    private static func check(_ taken: Taken, _ certificate: TestCertificate, in folder: TestFolder) async throws {
        let isSecure = taken.arguments.contains("--certificate")
        let input = Pipe()
        let sender = try ClientScript.start(
            "knocking",
            isSecure ? [certificate.certificate] : [],
            in: folder,
            input: .pipe(input)
        )
        let line = try #require(try await sender.output?.line(containing: "port "))
        let isPublic = taken.arguments.contains("--listen")
        let listen = isPublic ? [] : ["--listen", "127.0.0.1:\(line.dropFirst("port ".count))"]
        let second = try await Sluice.run(
            ["serve", "--events", Sluice.plan, "--journal", "other"] + listen + taken.arguments,
            in: folder,
            environment: taken.environment
        )
        try input.fileHandleForWriting.close()
        _ = try await sender.waitForEnd()
        #expect(second.ending == .exit(1), "\(taken.name)")
        #expect(sender.output?.lines.last == "answers 0", "\(taken.name)")
        // The plan names trackers that are not configured here.
        let errors = second.errors.filter { !$0.contains(" info ") && !$0.contains("Events name a tracker") }
        #expect(errors.count == 1, "\(taken.name): \(errors)")
        let error = errors.first ?? ""
        #expect(error.hasPrefix("error: ") && !error.contains("bind("), "\(taken.name): \(error)")
        for word in taken.words { #expect(error.contains(word), "\(taken.name): \(error)") }
    }
}
