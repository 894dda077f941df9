import EventValidation
import SluiceReplay
import SluiceTesting
import TestCases
import Testing

@Suite("A part of a source")
struct ReplayPartTests {
    private static let catalog = EventCatalog.scripted(["A": ["Alpha"], "AB": ["alpha", "beta"], "G": ["gamma"]])

    private func isSent(_ name: String, to trackers: Set<String>, isRecord: Bool) throws -> Bool {
        let checked = try EventValidator(catalog: Self.catalog).check("", as: .lines)
        let key = isRecord ? QuarantinedRecordKey.quarantined("a/1") : nil
        let part = ReplayPart(checked: checked, isQuarantined: isRecord, recordKey: key)
        let batch = EventBatch.scripted(catalog: Self.catalog, events: [ScriptedEvent(name, number: 1)])
        return part.isSent(batch, to: trackers, configured: ["alpha", "beta"])
    }

    @Test(
        "that is a record is sent only if the replay delivers to every configured tracker that it needs",
        arguments: [
            ("A", ["alpha"], true), ("A", ["beta"], false), ("A", ["alpha", "beta"], true), ("AB", ["alpha"], false),
            ("AB", ["alpha", "beta"], true), ("G", ["alpha", "beta"], false), ("A", [], false),
        ] as [(String, Set<String>, Bool)]
    )
    func records(name: String, trackers: Set<String>, isExpected: Bool) throws {
        #expect(try isSent(name, to: trackers, isRecord: true) == isExpected)
        // A file can be replayed again.
        #expect(try isSent(name, to: trackers, isRecord: false))
    }
}
