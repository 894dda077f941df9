import EventModel
import EventPipeline
import EventSchema
import Foundation
import Logging
import PipelineTestKit
import Testing

@Suite("The quarantine")
struct QuarantineTests {
    private func rejection(_ original: String, _ code: VerdictCode = .wrongType) -> Rejection {
        rejection(Array(original.utf8), code)
    }

    private func rejection(_ original: [UInt8], _ code: VerdictCode = .wrongType) -> Rejection {
        let violation = Violation(
            code: code,
            path: "$.payload.price",
            expected: "a number",
            found: "a string",
            location: SourceLocation(file: "events/retail.plist", line: 12, column: 5)
        )
        return Rejection(index: 0, id: nil, name: nil, violations: [violation], original: original)
    }

    private let head =
        #"{"quarantine":{"at":"2023-11-14T22:13:20.123Z","source":"http","stage":"check","errors":"#
        + #"[{"code":"wrong-type","path":"$.payload.price","expected":"a number","found":"a string","#
        + #""plan":"events/retail.plist:12:5"}]},"#

    @Test("a rejected event is one line with its verdict and the original, newlines between tokens turned to spaces")
    func line() async throws {
        try await withQuarantineFile { quarantine, lines in
            quarantine.keep([rejection("{\n  \"name\": \"A\\n\"\r\n}"), rejection("[]")], source: "http")
            let found = try lines()
            #expect(found == [head + #""event":{   "name": "A\n"  }}"#, head + #""event":[]}"#])
            #expect(quarantine.statistics == QuarantineStatistics(kept: 2, lost: 0))
        }
    }

    @Test(
        "an original that may be no JSON is kept as text",
        arguments: [VerdictCode.malformedJSON, .tooLarge, .tooDeep]
    )
    func text(code: VerdictCode) async throws {
        try await withQuarantineFile { quarantine, lines in
            quarantine.keep([rejection("{\"a\":\"\n\u{1}\u{2028}é", code)], source: "http")
            let line = try #require(try lines().first)
            #expect(line.hasSuffix(",\"eventText\":\"{\\\"a\\\":\\\"\\n\\u0001\u{2028}é\"}"))
            _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
        }
    }

    @Test("an original that is not UTF-8 is kept as Base64", arguments: 1...6)
    func base64(count: Int) async throws {
        try await withQuarantineFile { quarantine, lines in
            let original = [0xFF] + (1..<count).map { UInt8($0 * 37) }
            quarantine.keep([rejection(original, .malformedJSON)], source: "http")
            let line = try #require(try lines().first)
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let text = try #require(object?["eventBase64"] as? String)
            #expect(Data(base64Encoded: text) == Data(original))
        }
    }

    @Test("the file is readable by its owner only, and kept when it is opened again")
    func file() async throws {
        try await withQuarantineFile(containing: "{\"old\":1}\n") { quarantine, lines in
            quarantine.keep([rejection("[]")], source: "http")
            let found = try lines()
            #expect(found == [#"{"old":1}"#, head + #""event":[]}"#])
        }
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try Quarantine(path: path, logger: Logger(label: "test"))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("a line that a crash left torn spoils no other")
    func tornLine() async throws {
        try await withQuarantineFile(containing: "{\"torn") { quarantine, lines in
            quarantine.keep([rejection("[1]"), rejection("[2]")], source: "http")
            let found = try lines()
            #expect(found == ["{\"torn", head + #""event":[1]}"#, head + #""event":[2]}"#])
        }
    }

    @Test("beyond its limit the quarantine keeps nothing more, but counts")
    func limit() async throws {
        let lineLength = head.utf8.count + #""event":[]}"#.utf8.count + 1
        try await withQuarantineFile(capacityInBytes: 2 * lineLength) { quarantine, lines in
            for _ in 0..<5 { quarantine.keep([rejection("[]")], source: "http") }
            let found = try lines()
            #expect(found.count == 2)
            #expect(quarantine.statistics == QuarantineStatistics(kept: 2, lost: 3))
        }
    }

    @Test("an error of the disk is counted, not thrown")
    func diskError() throws {
        let quarantine = try Quarantine(
            path: "/dev/full",
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        quarantine.keep([rejection("[]")], source: "http")
        #expect(quarantine.statistics == QuarantineStatistics(kept: 0, lost: 1))
    }

    @Test("a file that cannot be made is an error that names it")
    func unwritable() {
        let error = #expect(throws: QuarantineError.self) {
            try Quarantine(path: "/nowhere/quarantine.ndjson", logger: Logger(label: "test"))
        }
        #expect(error?.description.contains("'/nowhere/quarantine.ndjson'") == true)
    }

    @Test("a quarantine without a file counts")
    func discarding() {
        let quarantine = Quarantine.discarding(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        quarantine.keep([rejection("[]")], source: "http")
        #expect(quarantine.statistics == QuarantineStatistics(kept: 0, lost: 1))
    }

    @Test("a refused event is kept as its canonical line, with the tracker's reason")
    func refusal() async throws {
        let catalog = EventCatalog.scripted(["A": ["alpha"]])
        let batch = EventBatch.scripted(catalog: catalog, events: [ScriptedEvent("A", number: 7)])
        try await withQuarantineFile { quarantine, lines in
            let event = TrackedEvent(batch: batch, index: 0)
            quarantine.keep([(event, "value \"too\" long\n")], refusedBy: "alpha")
            let line = try #require(try lines().first)
            #expect(line.contains(#""errors":[{"code":"refused","path":"$","expected":"#))
            #expect(line.contains(#""found":"value \"too\" long\n"}]}"#))
            #expect(line.hasSuffix(#","event":\#(ScriptedEvent("A", number: 7).canonicalJSON)}"#))
        }
    }

    @Test("lines from many threads are whole")
    func concurrency() async throws {
        try await withQuarantineFile { quarantine, lines in
            await withTaskGroup { group in
                for number in 0..<200 {
                    group.addTask { quarantine.keep([rejection("[\(number)]")], source: "http") }
                }
            }
            let expected = Set((0..<200).map { head + #""event":[\#($0)]}"# })
            let found = Set(try lines())
            #expect(found == expected)
        }
    }
}

@Suite("Verdicts as JSON")
struct ViolationEncodingTests {
    @Test("a verdict has the place in the plan where it has one")
    func members() {
        var bytes: [UInt8] = []
        let place = SourceLocation(file: "a.plist", line: 1, column: 2)
        ViolationEncoding.appendJSON(
            of: [
                Violation(code: .unknownEvent, path: "$.name", expected: "a name of the plan", found: "another"),
                Violation(code: .tooLong, path: "$", expected: "x", found: "y", location: place),
            ],
            to: &bytes
        )
        let first = #"{"code":"unknown-event","path":"$.name","expected":"a name of the plan","found":"another"}"#
        let second = #"{"code":"too-long","path":"$","expected":"x","found":"y","plan":"a.plist:1:2"}"#
        #expect(String(decoding: bytes, as: UTF8.self) == "[\(first),\(second)]")
    }

    @Test("every string comes back from a JSON reader, on one line and without control characters")
    func escaping() throws {
        let text = (0..<0x80).map { String(UnicodeScalar(UInt8($0))) }.joined() + "é\u{2028}\u{2029}🙂\u{FFFD}"
        var bytes: [UInt8] = []
        ViolationEncoding.appendString(text, to: &bytes)
        #expect(bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
        let read = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed) as? String
        #expect(read == text)
    }

    @Test("no violations are an empty array")
    func empty() {
        var bytes: [UInt8] = []
        ViolationEncoding.appendJSON(of: [], to: &bytes)
        #expect(bytes == Array("[]".utf8))
    }
}
