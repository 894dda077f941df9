#if os(Linux)
import Foundation
import ServerTestSupport
import Testing

/// A server without privileges, such as the container image's, which is not started by root.
@Suite("A server without privileges", .timeLimit(.minutes(5)))
struct PrivilegesTests {
    @Test("answers at each of its ports", arguments: [false, true])
    func answers(isSecure: Bool) async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        let certificate = try await TestCertificate("server", in: folder)
        let tls = ["--certificate", certificate.certificate, "--private-key", certificate.privateKey]
        let program = try SluiceProcess.executable()
        let serve = ["serve", "--listen", "127.0.0.1:0", "--events", "plan"] + (isSecure ? tls : [])
        // Root without capabilities may do what other users may do.
        let isRoot = geteuid() == 0
        let drop = ["--bounding-set=-all", "--inh-caps=-all", program.path]
        let process = try SluiceProcess(
            (isRoot ? drop : []) + serve,
            executable: isRoot ? URL(fileURLWithPath: "/usr/bin/setpriv") : program,
            in: folder
        )
        let line = try await process.errors.line(containing: "The server accepts events.")
        let url = try #require(line.firstMatch(of: /url=(\S+)\/v1\/events/)?.1)
        let server = ServingSluice(process: process, url: String(url))
        let event = #"{"name":"Sold","payload":{"quantity":1}}"#
        let trust = isSecure ? ["--cacert", certificate.certificate] : []
        let sent = ["-H", "Content-Type: application/json", "--data-binary", event] + trust
        #expect(try await server.request("/v1/events", sent).status == 200)
        let privatePort = try await PrivatePort(of: server)
        #expect(try await Command.run("curl", ["-sf", "\(privatePort.url)/metrics"]).text.contains("sluice_"))
        #expect(try await Sluice.run("status", in: folder).ending == .exit(0))
        process.send(SIGTERM)
        #expect(try await process.waitForEnd() == .exit(0))
    }
}
#endif
