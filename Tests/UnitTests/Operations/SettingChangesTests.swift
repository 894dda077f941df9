import EventModel
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Operations
import PipelineTestSupport
import SluiceTesting
import Synchronization
import TestCases
import TestPromises
import Testing

/// Settings whose values the test looks at; a value must be a number.
private final class ScriptedSettings: ChangeableSettings {
    private let values = Mutex<[String: String]>([:])
    let changeableNames = ["a.limit", "b.limit"]
    let missing: String?

    init(missing: String? = nil) {
        self.missing = missing
    }

    var applied: [String: String] { values.withLock { $0 } }

    func name(of setting: String) throws(SettingRefusal) -> String {
        guard changeableNames.contains(setting), setting != missing else {
            throw SettingRefusal(.notChangeable, "'\(setting)' cannot be changed.")
        }
        return setting
    }

    func applying(_ values: [String: String]) throws(SettingRefusal) -> @Sendable () -> Void {
        for (name, value) in values {
            _ = try self.name(of: name)
            guard Int(value) != nil else { throw SettingRefusal(.invalidValue, "\(name): expected a number.") }
        }
        return { [self] in self.values.withLock { $0 = values } }
    }
}

@Suite("Changes of settings at run time", .timeLimit(.minutes(2)))
final class SettingChangesTests {
    private let clock = ManualClock()
    private let log = RecordingLog()
    private let folder: URL
    private var path: String { folder.appending(path: "control.json").path }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private static let start = Timestamp("2026-01-01T00:00:00Z")?.microseconds ?? 0

    private func changes(of settings: ScriptedSettings, in file: ControlFile) -> SettingChanges {
        let relative = RelativeClock(clock)
        let began = clock.now.offset
        return SettingChanges(of: settings, in: file, logger: log.logger, clock: clock) {
            Timestamp(microseconds: Self.start + Int64((began + relative.now()) / .microseconds(1)))
        }
    }

    private func server(_ changes: SettingChanges, _ file: ControlFile) throws -> OperationsServer {
        try OperationsServer(
            configuration: .init(),
            pipeline: ScriptedPipeline(),
            sources: [],
            registry: PrometheusRegistry(),
            programVersion: "1.2.3",
            planReloader: nil,
            quarantineReplay: nil,
            controlFile: file,
            settingChanges: changes,
            logger: log.logger,
            clock: clock
        )
    }

    /// Sends one request.
    private func ask(
        _ server: OperationsServer,
        _ path: String,
        _ method: HTTPRequest.Method = .post
    ) async throws -> (status: HTTPResponse.Status, body: String) {
        try await Application(responder: server.responder).test(.router) { client in
            var headers = HTTPFields([HTTPField(name: .init("Host") ?? .accept, value: "localhost")])
            if let user = HTTPField.Name("Sluice-User") { headers[user] = "ada" }
            let answer = try await client.execute(uri: path, method: method, headers: headers)
            return (answer.status, String(buffer: answer.body))
        }
    }

    @Test(
        "anything but a regular file in its place stops the start, and is named",
        .promise("replaced-files"),
        arguments: HostileFile.allCases
    )
    func hostile(hostile: HostileFile) throws {
        try hostile.put(at: path, elsewhere: folder)
        let error = #expect(throws: OperationsError.self) { try ControlFile(path: path) }
        #expect(error?.message.contains(path) == true)
        #expect(!hostile.hasHarmed(elsewhere: folder))
    }

    @Test("a change is applied, kept in the file, listed with its end and who asked, and can be undone")
    func setAndUndo() async throws {
        let settings = ScriptedSettings()
        let file = try ControlFile(path: path)
        let server = try server(changes(of: settings, in: file), file)
        let answer = try await ask(server, "/v1/settings/a%2Elimit/set?value=7&for=2h")
        #expect(answer.status == .ok)
        let change =
            #"{"key":"a.limit","through":"private port","until":"2026-01-01T02:00:00Z","user":"ada","value":"7"}"#
        #expect(answer.body == change + "\n")
        #expect(settings.applied == ["a.limit": "7"])
        let list = try await ask(server, "/v1/settings", .get)
        #expect(list.body == #"{"changeable":["a.limit","b.limit"],"changed":[\#(change)]}"# + "\n")
        let status = try await ask(server, "/v1/status", .get)
        #expect(status.body.contains(#""changedSettings":[\#(change)]"#))
        #expect(try await ask(server, "/v1/settings/a%2Elimit/undo").status == .noContent)
        #expect(settings.applied == [:])
        #expect(try await ask(server, "/v1/settings/a%2Elimit/undo").status == .notFound)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == #"{"pausedTrackers":[],"settings":[]}"#)
        let facts = " setting=a.limit through=private port until=2026-01-01T02:00:00Z user=ada value=7"
        #expect(
            log.all == [
                "The setting was changed for a time." + facts, "The change of the setting was undone." + facts,
            ]
        )
    }

    @Test(
        "a change that is refused changes nothing",
        arguments: [
            ("a.limit/set?value=x&for=2h", HTTPResponse.Status.badRequest, "a.limit: expected a number."),
            ("c.limit/set?value=1&for=2h", .notFound, "'c.limit' cannot be changed."),
            ("a.limit/set?value=1", .badRequest, "A change needs 'value'"),
            ("a.limit/set?for=1h", .badRequest, "A change needs 'value'"),
            ("a.limit/set?value=1&for=31d", .badRequest, "at most 30d"),
        ]
    )
    func refused(request: String, status: HTTPResponse.Status, reason: String) async throws {
        let settings = ScriptedSettings()
        let file = try ControlFile(path: path)
        let answer = try await ask(try server(changes(of: settings, in: file), file), "/v1/settings/" + request)
        #expect(answer.status == status)
        #expect(answer.body.contains(reason), "\(answer.body)")
        #expect(settings.applied == [:])
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("a change that cannot be stored is not made")
    func notStored() async throws {
        let settings = ScriptedSettings()
        let file = try ControlFile(path: folder.appending(path: "missing/control.json").path)
        let answer = try await ask(
            try server(changes(of: settings, in: file), file),
            "/v1/settings/a%2Elimit/set?value=7&for=2h"
        )
        #expect(answer.status == .internalServerError)
        #expect(settings.applied == [:])
    }

    @Test("a change ends at its time, is removed from the file, and others stay", .promise("operator-changes"))
    func expiry() async throws {
        let settings = ScriptedSettings()
        let file = try ControlFile(path: path)
        let changes = changes(of: settings, in: file)
        let server = try server(changes, file)
        _ = try await ask(server, "/v1/settings/a.limit/set?value=7&for=90s")
        _ = try await ask(server, "/v1/settings/b.limit/set?value=8&for=2h")
        #expect(settings.applied == ["a.limit": "7", "b.limit": "8"])
        await withTaskGroup { group in
            group.addTask { await changes.run() }
            await clock.waitForSleeper(for: .seconds(1))
            clock.advance(by: .seconds(89))
            await clock.waitForSleeper(for: .seconds(1))
            #expect(settings.applied == ["a.limit": "7", "b.limit": "8"])
            clock.advance(by: .seconds(1))
            await clock.waitForSleeper(for: .seconds(1))
            #expect(settings.applied == ["b.limit": "8"])
            group.cancelAll()
        }
        #expect(changes.current.map(\.key) == ["b.limit"])
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains(#""key":"b.limit""#))
        #expect(try !String(contentsOfFile: path, encoding: .utf8).contains(#""key":"a.limit""#))
        #expect(log.all.last?.hasPrefix("The change of the setting has ended. setting=a.limit") == true)
    }

    @Test("a restart applies what has not ended and can still be made, and forgets the rest")
    func restart() async throws {
        let first = try ControlFile(path: path)
        let server = try server(changes(of: ScriptedSettings(), in: first), first)
        _ = try await ask(server, "/v1/settings/a.limit/set?value=7&for=1m")
        _ = try await ask(server, "/v1/settings/b.limit/set?value=8&for=2h")
        let settings = ScriptedSettings()
        let again = changes(of: settings, in: try ControlFile(path: path))
        #expect(settings.applied == ["a.limit": "7", "b.limit": "8"])
        #expect(again.current.count == 2)
        clock.advance(by: .seconds(60))
        let later = ScriptedSettings()
        #expect(changes(of: later, in: try ControlFile(path: path)).current.map(\.key) == ["b.limit"])
        #expect(later.applied == ["b.limit": "8"])
        let other = ScriptedSettings(missing: "b.limit")
        #expect(changes(of: other, in: try ControlFile(path: path)).current == [])
        #expect(other.applied == [:])
        let line = "A changed setting of an earlier run cannot be applied; the change is forgotten."
        #expect(log.all.contains { $0.hasPrefix(line) })
    }

    @Test("a file of an older version is read, and keeps what it says when a setting is changed")
    func olderFile() async throws {
        try Data(#"{"pausedTrackers":["alpha"]}"#.utf8).write(to: URL(fileURLWithPath: path))
        let file = try ControlFile(path: path)
        let settings = ScriptedSettings()
        let changes = changes(of: settings, in: file)
        #expect(changes.current == [])
        let server = try server(changes, file)
        #expect(log.all == ["The tracker is paused since an earlier run. tracker=alpha"])
        _ = try await ask(server, "/v1/settings/a.limit/set?value=7&for=2h")
        #expect(
            try String(contentsOfFile: path, encoding: .utf8).hasPrefix(#"{"pausedTrackers":["alpha"],"settings":[{"#)
        )
    }

    @Test("without a file, changes are made and forgotten at the end")
    func withoutFile() async throws {
        let settings = ScriptedSettings()
        let file = try ControlFile(path: nil)
        let changes = changes(of: settings, in: file)
        let answer = try await ask(try server(changes, file), "/v1/settings/a.limit/set?value=7&for=2h")
        #expect(answer.status == .ok)
        #expect(settings.applied == ["a.limit": "7"])
    }

    @Test(
        "a duration is a number and a unit, and at most 30 days",
        arguments: [
            ("90s", 90), ("30m", 1800), ("2h", 7200), ("7d", 604_800), ("30d", 2_592_000), ("720h", 2_592_000),
            ("31d", nil), ("721h", nil), ("0s", nil), ("-1h", nil), ("+1h", nil), ("1.5h", nil), ("h", nil), ("", nil),
            ("90", nil), ("2 h", nil), ("99999999999999999999s", nil), ("1w", nil),
        ]
    )
    func durations(text: String, seconds: Int?) {
        #expect(SettingDuration(text)?.seconds == seconds)
    }
}
