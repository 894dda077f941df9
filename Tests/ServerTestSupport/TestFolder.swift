package import Foundation
import SluiceTesting

/// A temporary folder for one test, removed when it is released.
package final class TestFolder: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "sluice-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    private init(_ url: URL) {
        self.url = url
    }

    /// A folder inside another one, created if it does not exist; it must be released first.
    package static func inside(_ folder: TestFolder, _ name: String) throws -> TestFolder {
        let url = folder.url.appending(path: name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return TestFolder(url)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    package func path(_ name: String) -> String { url.appending(path: name).path }

    /// Writes a file, and returns its path.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        try write(Data(text.utf8), to: name)
    }

    /// Writes a file, and returns its path.
    @discardableResult
    package func write(_ data: Data, to name: String) throws -> String {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
        return file.path
    }

    /// The lines of the quarantine; empty if it does not exist.
    package func quarantined(_ name: String = "quarantine") -> [String] {
        (try? QuarantineContents.lines(in: path(name))) ?? []
    }

    /// Waits until the quarantine has `count` lines, because a server writes them after it has responded.
    package func waitForQuarantined(_ count: Int) async throws {
        while try QuarantineContents.lines(in: path("quarantine")).count < count {
            try await waitBriefly()
        }
    }

    /// The lines of a file; empty if it does not exist.
    package func lines(of name: String) -> [String] {
        let text = (try? String(contentsOfFile: path(name), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }
}
