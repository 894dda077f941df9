import EventSchema
import Foundation
import ServerTestSupport
import TestPromises
import Testing

/// Texts that begin with a byte order mark, in each format and mode.
@Suite("A byte order mark", .timeLimit(.minutes(5)))
struct ByteOrderMarkTests {
    private static let utf8: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let plan = DialectExchange.plan([
        "Ping": [("total", .number)], "com.example.order": [("total", .number)],
    ])
    private static let id = "0192a3f4-5b6c-7d8e-9f00-112233445566"

    /// A way to send one event.
    enum Mode: String, CaseIterable {
        case document, text, array, longArray, lines
        case structuredCloudEvent, batchedCloudEvents, binaryCloudEvent
        case segmentMessage, segmentMessages, segmentBatch, longSegmentBatch
        case postHogEvent, postHogEvents, postHogBatch, postHogForm, newerPostHogAPI

        fileprivate var path: String {
            switch self {
            case .segmentMessage, .segmentMessages: "/v1/track"
            case .segmentBatch, .longSegmentBatch: "/v1/batch"
            case .postHogEvent, .postHogEvents, .postHogForm: "/e/"
            case .postHogBatch: "/batch/"
            case .newerPostHogAPI: "/i/v1/analytics/events"
            default: "/v1/events"
            }
        }

        fileprivate var type: String {
            switch self {
            case .text: "text/plain"
            case .lines: "application/x-ndjson"
            case .structuredCloudEvent: "application/cloudevents+json"
            case .batchedCloudEvents: "application/cloudevents-batch+json"
            case .postHogForm: "application/x-www-form-urlencoded"
            default: "application/json"
            }
        }

        fileprivate var fields: String {
            let attributes = "ce-specversion: 1.0\r\nce-type: com.example.order\r\nce-source: /s\r\nce-id: 1\r\n"
            return self == .binaryCloudEvent ? attributes : ""
        }

        fileprivate var json: String {
            let own = #"{"id":"\#(id)","name":"Ping","payload":{"total":1}}"#
            let cloudEvent =
                #"{"specversion":"1.0","type":"com.example.order","source":"/s","id":"1","data":{"total":1}}"#
            let segment = #"{"type":"track","messageId":"\#(id)","event":"Ping","properties":{"total":1}}"#
            let postHog = #"{"uuid":"\#(id)","event":"Ping","distinct_id":"u","properties":{"total":1}}"#
            let padding = String(repeating: " ", count: 300_000)
            return switch self {
            case .document, .text: own
            case .array: "[\(own)]"
            case .longArray: "[\(own)\(padding)]"
            case .lines: own + "\n" + own + "\n"
            case .structuredCloudEvent: cloudEvent
            case .batchedCloudEvents: "[\(cloudEvent)]"
            // It looks like an event of Sluice's own format.
            case .binaryCloudEvent: #"{"name":"Ping"}"#
            case .segmentMessage: segment
            case .segmentMessages: "[\(segment)]"
            case .segmentBatch: #"{"batch":[\#(segment)]}"#
            case .longSegmentBatch: #"{"batch":[\#(segment)\#(padding)]}"#
            case .postHogEvent, .postHogForm: postHog
            case .postHogEvents: "[\(postHog)]"
            case .postHogBatch, .newerPostHogAPI: #"{"batch":[\#(postHog)]}"#
            }
        }

        /// The body with these bytes in front of the JSON.
        fileprivate func body(after mark: [UInt8]) -> [UInt8] {
            let bytes = mark + Array(json.utf8)
            guard self == .postHogForm else { return bytes }
            let base64 = Data(bytes).base64EncodedString().replacing("+", with: "%2B").replacing("=", with: "%3D")
            return Array("data=\(base64)".utf8)
        }
    }

    private static func send(_ mode: Mode, _ mark: [UInt8]) async throws -> DialectExchange {
        try await DialectExchange.send(
            mode.body(after: mark),
            to: mode.path,
            plan,
            type: mode.type,
            fields: mode.fields
        )
    }

    @Test(
        "of UTF-8 changes nothing, whatever the format, compressed or not",
        .promise("unusual-input"),
        arguments: Mode.allCases
    )
    func ignored(mode: Mode) async throws {
        let plain = try await Self.send(mode, [])
        let marked = try await Self.send(mode, Self.utf8)
        #expect(marked.response.status == plain.response.status)
        #expect(marked.response.body == plain.response.body)
        #expect(marked.lines == plain.lines)
        if mode == .binaryCloudEvent {
            #expect(plain.response.status == 422)
        } else {
            #expect(plain.lines.first?.contains(#""payload":{"total":1}"#) == true)
            let gzip = try await DialectExchange.send(
                try await Requests.gzip(mode.body(after: Self.utf8)),
                to: mode.path,
                Self.plan,
                type: mode.type,
                fields: mode.fields + "Content-Encoding: gzip\r\n"
            )
            #expect(gzip.lines == plain.lines)
        }
    }

    @Test("in binary mode, the event is that of the header fields", .promise("unusual-input"))
    func binary() async throws {
        for mark in [[], Self.utf8] {
            let result = try await DialectExchange.send(
                mark + Array(#"{"total":1}"#.utf8),
                to: "/v1/events",
                Self.plan,
                fields: Mode.binaryCloudEvent.fields
            )
            #expect(result.lines.first?.contains(#""name":"com.example.order""#) == true)
        }
    }

    @Test("twice, it makes the text invalid, and no event is accepted", arguments: Mode.allCases)
    func twice(mode: Mode) async throws {
        let result = try await Self.send(mode, Self.utf8 + Self.utf8)
        // Of lines, the first one is invalid.
        #expect(result.lines.count == (mode == .lines ? 1 : 0))
    }

    @Test("of another encoding is named in the answer", .promise("unusual-input"), arguments: Mode.allCases)
    func otherEncodings(mode: Mode) async throws {
        let marks: [([UInt8], String)] = [
            ([0xFF, 0xFE], "UTF-16"), ([0xFE, 0xFF], "UTF-16"), ([0xFF, 0xFE, 0, 0], "UTF-32"),
            ([0, 0, 0xFE, 0xFF], "UTF-32"),
        ]
        for (mark, name) in marks {
            let result = try await Self.send(mode, mark)
            #expect(result.response.status == 400)
            #expect(result.response.body.contains("the byte order mark of \(name)"), "\(result.response.body)")
            #expect(result.lines.isEmpty)
        }
    }
}
