import EventJournal
import EventModel
import EventQuarantine
import EventSchema
import EventValidation
import Foundation
import Logging
import PipelineTestSupport
import SluiceTesting
import TestCases
import TestPromises
import Testing
import TrackerKit

@Suite("The quarantine")
struct QuarantineTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func rejection(_ original: String, _ code: VerdictCode = .wrongType) -> Rejection {
        rejection(Array(original.utf8), code)
    }

    private func rejection(_ original: [UInt8], _ code: VerdictCode = .wrongType) -> Rejection {
        let violation = Violation(
            code: code,
            path: "$.payload.price",
            expected: "a number",
            found: "a string",
            location: PlanLocation(file: "events/retail.plist", line: 12, column: 5)
        )
        return Rejection(index: 0, id: nil, name: nil, violations: [violation], original: original)
    }

    private let head =
        #"{"quarantine":{"at":"2023-11-14T22:13:20.123Z","source":"http","stage":"check","errors":"#
        + #"[{"code":"wrong-type","path":"$.payload.price","expected":"a number","found":"a string","#
        + #""plan":"events/retail.plist:12:5"}]},"#

    @Test("a rejected event is one line with its verdict and the original, byte for byte")
    func line() async throws {
        try await withQuarantine { quarantine, lines in
            quarantine.keep([rejection("{  \"name\": \"A\\n\"\t}"), rejection("[]")], source: "http", planVersion: nil)
            await quarantine.drain()
            let found = try lines()
            #expect(found == [head + #""event":{  "name": "A\n"\#t}}"#, head + #""event":[]}"#])
            #expect(quarantine.statistics == QuarantineStatistics(kept: 2, lost: 0))
        }
    }

    @Test(
        "an original that may be no JSON is kept as text",
        arguments: [VerdictCode.malformedJSON, .tooLarge, .tooDeep]
    )
    func text(code: VerdictCode) async throws {
        try await withQuarantine { quarantine, lines in
            quarantine.keep([rejection("{\"a\":\"\n\u{1}\u{2028}é", code)], source: "http", planVersion: nil)
            await quarantine.drain()
            let line = try #require(try lines().first)
            #expect(line.hasSuffix(",\"eventText\":\"{\\\"a\\\":\\\"\\n\\u0001\u{2028}é\"}"))
            _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
        }
    }

    @Test("an original that is not UTF-8 is kept as Base64", arguments: 1...6)
    func base64(count: Int) async throws {
        try await withQuarantine { quarantine, lines in
            let original = [0xFF] + (1..<count).map { UInt8($0 * 37) }
            quarantine.keep([rejection(original, .malformedJSON)], source: "http", planVersion: nil)
            await quarantine.drain()
            let line = try #require(try lines().first)
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let text = try #require(object?["eventBase64"] as? String)
            #expect(Data(base64Encoded: text) == Data(original))
        }
    }

    @Test(
        "an original with line breaks is kept as text, and comes back byte for byte",
        arguments: ["\n", "\r\n", "\r"]
    )
    func lineBreaks(lineBreak: String) async throws {
        try await withQuarantine { quarantine, lines in
            let original = #"{"name": "A","# + lineBreak + #" "id": "é\n"}"#
            quarantine.keep([rejection(original)], source: "http", planVersion: nil)
            await quarantine.drain()
            let line = try #require(try lines().first)
            #expect(line.contains(#""eventText":"#))
            #expect(Quarantine.original(ofLine: Array(line.utf8)) == Array(original.utf8))
        }
    }

    @Test("a line has the plan's version and the event's name, if they exist")
    func planVersion() async throws {
        try await withQuarantine { quarantine, lines in
            let violation = Violation(code: .wrongType, path: "$", expected: "a", found: "b")
            let named = Rejection(
                index: 0,
                id: nil,
                name: "Sold \"out\"",
                violations: [violation],
                original: [0x7B, 0x7D]
            )
            quarantine.keep([named], source: "http", planVersion: "2.1")
            await quarantine.drain()
            let line = try #require(try lines().first)
            #expect(line.contains(#""stage":"check","planVersion":"2.1","name":"Sold \"out\"","errors":["#))
        }
    }

    @Test("stored events are readable only by the owner, and are there after reopening")
    func reopening() async throws {
        let folder = TemporaryFolder()
        do {
            let quarantine = try Quarantine(folder: folder.path, logger: Self.silent)
            quarantine.keep([rejection("[1]")], source: "http", planVersion: nil)
            await quarantine.drain()
        }
        let quarantine = try Quarantine(folder: folder.path, logger: Self.silent)
        quarantine.keep([rejection("[2]")], source: "http", planVersion: nil)
        await quarantine.drain()
        let lines = try QuarantineContents.lines(in: folder.path)
        #expect(lines.map { String($0.suffix(4)) } == ["[1]}", "[2]}"])
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + file)
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            #expect(attributes[.posixPermissions] as? Int == (isFolder ? 0o700 : 0o600))
        }
    }

    @Test("two processes each have their own part of the folder")
    func sharing() async throws {
        let folder = TemporaryFolder()
        let first = try Quarantine(folder: folder.path, logger: Self.silent)
        let second = try Quarantine(folder: folder.path, logger: Self.silent)
        for number in 0..<10 {
            first.keep([rejection("[\(number)]")], source: "first", planVersion: nil)
            second.keep([rejection("[\(number)]")], source: "second", planVersion: nil)
        }
        await first.drain()
        await second.drain()
        let lines = try QuarantineContents.lines(in: folder.path)
        #expect(lines.count == 20)
        #expect(lines.prefix(10).allSatisfy { $0.contains(#""source":"first""#) })
        #expect(lines.suffix(10).allSatisfy { $0.contains(#""source":"second""#) })
    }

    @Test("a torn write of a crash affects no earlier and no later events")
    func tornEnd() async throws {
        let folder = TemporaryFolder()
        let part = folder.path + "/verdicts/0"
        do {
            let quarantine = try Quarantine(folder: folder.path, logger: Self.silent)
            quarantine.keep([rejection("[1]")], source: "http", planVersion: nil)
            await quarantine.drain()
            // As it is while the process lives, with half a frame behind.
            let segment = try #require(
                FileManager.default.contentsOfDirectory(atPath: part).first { $0.hasSuffix(".segment") }
            )
            let bytes = try Data(contentsOf: URL(fileURLWithPath: part + "/" + segment))
            try FileManager.default.createDirectory(atPath: folder.path + "/torn", withIntermediateDirectories: true)
            try (bytes + bytes.prefix(70)).write(to: URL(fileURLWithPath: folder.path + "/torn/" + segment))
        }
        try FileManager.default.removeItem(atPath: part)
        try FileManager.default.moveItem(atPath: folder.path + "/torn", toPath: part)
        let quarantine = try Quarantine(folder: folder.path, logger: Self.silent)
        quarantine.keep([rejection("[2]")], source: "http", planVersion: nil)
        await quarantine.drain()
        let lines = try QuarantineContents.lines(in: folder.path)
        #expect(lines.map { String($0.suffix(4)) } == ["[1]}", "[2]}"])
    }

    @Test("events of older versions are read, and neither changed nor removed", .promise("rejected-event-flood"))
    func olderLayout() async throws {
        let folder = TemporaryFolder()
        let old = folder.path + "/0"
        let line = head + #""event":[0]}"# + "\n"
        do {
            let journal = try Journal(folder: old, now: 0)
            var writer = JournalWriter(journal)
            _ = try writer.commit(lines: Array(line.utf8), count: 1, now: 0)
            try writer.close(now: 0)
        }
        let before = try Self.files(in: old)
        let quarantine = try Quarantine(folder: folder.path, capacityInBytes: 1 << 20, logger: Self.silent)
        for number in 1...400 {
            quarantine.keep(
                [rejection("[\(number)" + String(repeating: " ", count: 1_000) + "]")],
                source: "http",
                planVersion: nil
            )
            await quarantine.drain()
        }
        #expect(quarantine.statistics.overwritten > 0)
        #expect(try QuarantineContents.lines(in: folder.path).first == String(line.dropLast()))
        #expect(try Self.files(in: old) == before)
    }

    /// The files of a folder with what is in them.
    private static func files(in folder: String) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(fileURLWithPath: folder + "/" + $0))) }
        )
    }

    @Test("a refused event that cannot be stored is an error, and is not counted as lost")
    func refusalNotKept() async throws {
        let batch = EventBatch.scripted(catalog: .scripted(["A": ["alpha"]]), events: [ScriptedEvent("A", number: 7)])
        try await withQuarantine(capacityInBytes: 1) { quarantine, _ in
            let error = await #expect(throws: JournalError.self) {
                try await quarantine.keep([(TrackedEvent(batch: batch, index: 0), "no")], refusedBy: "alpha")
            }
            #expect(error?.code == .full)
            #expect(quarantine.statistics == QuarantineStatistics())
        }
    }

    @Test("a folder that cannot be created is an error that names it")
    func unwritable() {
        let error = #expect(throws: QuarantineError.self) {
            try Quarantine(folder: "/dev/null/quarantine", logger: Self.silent)
        }
        #expect(error?.description.contains("'/dev/null/quarantine'") == true)
    }

    @Test("a discarding quarantine counts what it discards")
    func discarding() {
        let quarantine = Quarantine.discarding(logger: Self.silent)
        quarantine.keep([rejection("[]")], source: "http", planVersion: nil)
        #expect(quarantine.statistics == QuarantineStatistics(kept: 0, lost: 1))
    }

    @Test("a refused event is kept as its canonical line, with the tracker's reason")
    func refusal() async throws {
        let catalog = EventCatalog.scripted(["A": ["alpha"]])
        let batch = EventBatch.scripted(catalog: catalog, events: [ScriptedEvent("A", number: 7)])
        try await withQuarantine { quarantine, lines in
            let event = TrackedEvent(batch: batch, index: 0)
            try await quarantine.keep([(event, "value \"too\" long\n")], refusedBy: "alpha")
            let line = try #require(try lines().first)
            #expect(line.contains(#""errors":[{"code":"refused","path":"$","expected":"#))
            #expect(line.contains(#""found":"value \"too\" long\n"}]}"#))
            #expect(line.hasSuffix(#","event":\#(ScriptedEvent("A", number: 7).canonicalJSON)}"#))
        }
    }

    @Test("a parked event has its own code, and the tracker's reason")
    func parked() async throws {
        let catalog = EventCatalog.scripted(["A": ["alpha"]])
        let batch = EventBatch.scripted(catalog: catalog, events: [ScriptedEvent("A", number: 7)])
        try await withQuarantine { quarantine, lines in
            let event = TrackedEvent(batch: batch, index: 0)
            try await quarantine.keep([(event, "no table")], refusedBy: "alpha", as: .parked)
            let line = try #require(try lines().first)
            #expect(line.contains(#""source":"tracker:alpha","stage":"delivery""#))
            #expect(
                line.contains(
                    #""errors":[{"code":"parked","path":"$","expected":"a destination that takes the event","#
                        + #""found":"no table"}]}"#
                )
            )
            #expect(Quarantine.original(ofLine: line.utf8) == Array(ScriptedEvent("A", number: 7).canonicalJSON.utf8))
        }
    }

    @Test("lines from many threads are whole")
    func concurrency() async throws {
        try await withQuarantine { quarantine, lines in
            await withTaskGroup { group in
                for number in 0..<200 {
                    group.addTask { quarantine.keep([rejection("[\(number)]")], source: "http", planVersion: nil) }
                }
            }
            await quarantine.drain()
            let expected = Set((0..<200).map { head + #""event":[\#($0)]}"# })
            let found = Set(try lines())
            #expect(found == expected)
        }
    }
}

@Suite("Verdicts as JSON")
struct ViolationJSONTests {
    @Test("a verdict has its place in the plan if there is one")
    func members() {
        var bytes: [UInt8] = []
        let place = PlanLocation(file: "a.plist", line: 1, column: 2)
        let violations = [
            Violation(code: .unknownEvent, path: "$.name", expected: "a name of the plan", found: "another"),
            Violation(code: .tooLong, path: "$", expected: "x", found: "y", location: place),
        ]
        violations.appendJSON(to: &bytes)
        let first = #"{"code":"unknown-event","path":"$.name","expected":"a name of the plan","found":"another"}"#
        let second = #"{"code":"too-long","path":"$","expected":"x","found":"y","plan":"a.plist:1:2"}"#
        #expect(String(decoding: bytes, as: UTF8.self) == "[\(first),\(second)]")
    }

    @Test("every string can be read back by a JSON reader, and is one line without control characters")
    func escaping() throws {
        let text = (0..<0x80).map { String(UnicodeScalar(UInt8($0))) }.joined() + "é\u{2028}\u{2029}🙂\u{FFFD}"
        var bytes: [UInt8] = []
        JSONString.append(text, to: &bytes)
        #expect(bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
        let read = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed) as? String
        #expect(read == text)
    }

    @Test("no violations give an empty array")
    func empty() {
        var bytes: [UInt8] = []
        [Violation]().appendJSON(to: &bytes)
        #expect(bytes == Array("[]".utf8))
    }
}
