import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// `sluice load` into trackers other than PostgreSQL, from librdkafka's mock cluster.
@Suite("sluice load into any tracker", .timeLimit(.minutes(5)))
struct LoadTrackersTests {
    private static let plan = """
        <plist><dict><key>events</key><dict><key>Song Played</key><dict>
        <key>registeredTrackers</key><array><string>archive</string><string>partner</string></array>
        <key>payload</key><dict><key>number</key><string>integer</string></dict>
        </dict></dict></dict></plist>
        """

    @Test("a topic is loaded into files and a webhook, each with its limits, and a killed loader loses nothing")
    func fileAndWebhook() async throws {
        let (folder, receiver) = (try TestFolder(), try await WebhookReceiver())
        let topic = try SharedTopic(partitions: 1)
        let plan = try folder.write(Self.plan, to: "plan.plist")
        // With this linger, only complete batches are loaded.
        try folder.write(
            """
            trackers:
              archive: { type: file, path: archive/all.ndjson }
              partner:
                type: webhook
                url: "\(receiver.url)/"
                delivery: { maximumEvents: 7, lingerMilliseconds: 3600000 }
            """,
            to: "sluice.yaml"
        )
        let options =
            ["load", "--config", "sluice.yaml", "--events", plan, "--from", topic.url, "--group", "loader"]
            + topic.groupProperties.flatMap { ["--kafka-property", "\($0)=\($1)"] }
            + ["--to", "archive", "--to", "partner"]
        for round in 1...2 {
            try await topic.writer().write((round * 21 - 21..<round * 21).map(Self.record))
            let loader = try SluiceProcess(options, in: folder)
            while try Self.archived(in: folder).count < round * 21 || Self.sent(to: receiver).count < round * 21 {
                do { try await waitBriefly() } catch {
                    throw OutputLog.Missing(text: "\(round * 21) events", output: loader.errors.text)
                }
            }
            loader.send(round == 1 ? SIGKILL : SIGTERM)
            let ending: SluiceProcess.Ending = round == 1 ? .signal(SIGKILL) : .exit(0)
            #expect(try await loader.waitForEnd() == ending, "\(loader.errors.text)")
        }
        let everything = Set(0..<42)
        #expect(try Set(Self.numbers(receiver.requests.map(\.body).joined())) == everything)
        #expect(try receiver.requests.allSatisfy { Self.numbers($0.body).count == 7 })
        // Complete: with the second loader's end, or its start if the first one has left it.
        #expect(!FileManager.default.fileExists(atPath: folder.path("archive/.partial")))
        #expect(try Self.archived(in: folder) == everything)
    }

    private static func record(_ number: Int) -> KafkaRecordDraft {
        let id = UUID().uuidString.lowercased()
        let value = """
            {"id":"\(id)","name":"Song Played","time":"2026-01-01T08:26:00Z","receivedAt":"2026-01-01T08:26:01Z",\
            "payload":{"number":\(number)}}
            """
        let headers = [
            "ce_specversion": "1.0", "ce_id": id, "ce_source": "test", "ce_type": "Song Played",
            "ce_time": "2026-01-01T08:26:00Z", "content-type": "application/json",
        ]
        return KafkaRecordDraft(
            partition: 0,
            key: id,
            value: value,
            headers: headers.map { KafkaMessage.Header(name: $0, value: $1) }
        )
    }

    private static func numbers(_ text: String) -> [Int] {
        text.matches(of: /"number":(\d+)/).compactMap { Int($0.1) }
    }

    private static func sent(to receiver: WebhookReceiver) throws -> Set<Int> {
        Set(numbers(try receiver.requests.map(\.body).joined()))
    }

    /// The events in all files, complete or not; a file may get its name meanwhile.
    private static func archived(in folder: TestFolder) throws -> Set<Int> {
        let names = FileManager.default.subpaths(atPath: folder.path("archive")) ?? []
        let contents = names.compactMap { FileManager.default.contents(atPath: folder.path("archive/\($0)")) }
        return Set(contents.flatMap { numbers(String(decoding: $0, as: UTF8.self)) })
    }
}
