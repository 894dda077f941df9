import EventModel
import EventSchema
import EventValidation
import GoldenClient
import GoldenShapes
import SluiceClient
import TestCases
import TestPromises
import Testing

/// The ids of users, devices and sessions, by each way in which events are encoded.
@Suite("The limit of identifiers")
struct IdentifierLimitTests {
    private static let names = ["userId", "anonymousId", "sessionId"]
    /// Texts of 512 bytes, with characters of one to four bytes.
    private static let longest = ["x", "é", "€", "😀"].map { character in
        let count = 512 / character.utf8.count
        return String(repeating: character, count: count) + String(repeating: "x", count: 512 % character.utf8.count)
    }

    private static func event(_ field: String, _ identifier: String) -> [UInt8] {
        let name = ShapesEvents.catalog.definitions[ShapesEvents.AnythingGoes.definitionIndex].name
        return Array(#"{"name":"\#(name)","\#(field)":"\#(identifier)","payload":{}}"#.utf8)
    }

    private static func codes(
        ofTyped userID: String?,
        _ anonymousID: String?,
        _ sessionID: String?
    ) -> (service: [String], client: [String]) {
        var (service, client): ([String], [String]) = ([], [])
        var builder = EventBatchBuilder(catalog: ShapesEvents.catalog)
        let context = EventValidation.EventContext(userID: userID, anonymousID: anonymousID, sessionID: sessionID)
        do throws(EventValidation.InvalidEvent) {
            try builder.append(ShapesEvents.AnythingGoes(), context: context)
        } catch {
            service = error.violations.map { "\($0.code.rawValue) \($0.path)" }
        }
        let clientContext = SluiceClient.EventContext(
            userID: userID,
            anonymousID: anonymousID,
            sessionID: sessionID
        )
        do throws(SluiceClient.InvalidEvent) {
            let id = EventID(high: 1, low: 2)
            _ = try EventLine.encode(ClientShapes.AnythingGoes(), clientContext, id: id, time: Timestamp.now())
        } catch {
            client = error.violations.map { "\($0.code) \($0.path)" }
        }
        return (service, client)
    }

    @Test(
        "512 bytes are accepted, and one more is rejected with a code of its own, as JSON, typed and in the client",
        .promise("invalid-event")
    )
    func limit() throws {
        let validator = EventValidator(catalog: ShapesEvents.catalog)
        for text in Self.longest {
            for (position, name) in Self.names.enumerated() {
                for (identifier, wanted) in [(text, []), (text + "x", ["identifier-too-long $.\(name)"])] {
                    let checked = try validator.check(bytes: Self.event(name, identifier))
                    #expect(checked.verdicts == (wanted.isEmpty ? [] : [wanted]))
                    let texts = (0..<3).map { $0 == position ? identifier : nil }
                    let typed = Self.codes(ofTyped: texts[0], texts[1], texts[2])
                    #expect(typed.service == wanted)
                    #expect(typed.client == wanted)
                }
            }
        }
    }

    @Test("events that were accepted by an earlier version are read again, whatever the size of their identifiers")
    func accepted() throws {
        let validator = EventValidator(rereading: ShapesEvents.catalog)
        let event = Self.event("userId", String(repeating: "x", count: 3000))
        #expect(try validator.check(bytes: event, as: .lines).lines.count == 1)
    }
}
