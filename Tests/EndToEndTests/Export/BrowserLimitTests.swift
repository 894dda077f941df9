import Foundation
import ServerTestSupport
import Testing

@Suite("A browser that hangs", .timeLimit(.minutes(2)))
struct BrowserLimitTests {
    @Test("is killed, and fails the test that waits for it")
    func hangs() async throws {
        let folder = try TestFolder()
        try folder.write("#!/bin/sh\nexec tail -f /dev/null\n", to: "browser")
        let program = folder.path("browser")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        let browser = try Browser(in: folder, program: program, limit: .milliseconds(200))
        let failure = await #expect(throws: Browser.Failure.self) { try await browser.document("page.html") }
        #expect(failure?.description.contains("did not end within") == true)
    }
}
