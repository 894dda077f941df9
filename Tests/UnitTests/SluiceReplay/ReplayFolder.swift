import EventModel
import EventPipeline
import EventQuarantine
import EventSchema
import EventValidation
import Foundation
import Logging
import PipelineTestSupport
import SluiceReplay
import SluiceTesting
import TestCases
import TrackerKit

/// A folder with the files and the quarantine of a replay.
final class ReplayFolder {
    /// When events are quarantined unless a test says otherwise.
    static let arrival = Timestamp(microseconds: 1_740_830_761_000_001)
    /// The description of `arrival`.
    static let arrivalText = "2025-03-01T12:06:01.000001Z"
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private let folder = TemporaryFolder()
    /// The folder of the quarantine, which is created with its first event.
    let quarantine: String

    init() throws {
        quarantine = folder.path + "/quarantine"
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    }

    func path(_ name: String) -> String { folder.path + "/" + name }

    /// Writes a file, and returns its path.
    @discardableResult
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(filePath: path(name)))
        return path(name)
    }

    /// Writes a file, and returns its path.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String { try write(Array(text.utf8), to: name) }

    // MARK: Plans and events

    /// A plan whose event `Sold` has a `quantity` of at least `minimum` and goes to some trackers; `Lost` goes to `alpha` and `beta`.
    static func catalog(minimumQuantity minimum: Int64 = 1, soldTo trackers: [String] = ["alpha"]) -> EventCatalog {
        let quantity = PropertyDefinition(
            name: "quantity",
            type: .integer,
            minimum: .integer(minimum),
            location: .line(2)
        )
        return EventCatalog(
            plan: TrackingPlan(events: [
                EventDefinition(key: "Sold", trackers: trackers, properties: [quantity], location: .line(1)),
                EventDefinition(key: "Lost", trackers: ["alpha", "beta"], location: .line(3)),
            ])
        )
    }

    /// The line of an event, with further fields such as `"time":"…",`.
    static func sold(_ quantity: Int, _ fields: String = "") -> String {
        #"{\#(fields)"name":"Sold","payload":{"quantity":\#(quantity)}}"#
    }

    // MARK: The quarantine

    /// Quarantines the lines that a plan rejects.
    func reject(
        _ lines: [String],
        by catalog: EventCatalog = ReplayFolder.catalog(minimumQuantity: 1_000),
        at time: Timestamp = ReplayFolder.arrival
    ) async throws {
        let validator = EventValidator(catalog: catalog, now: { time })
        try await keep(validator.check(lines.joined(separator: "\n"), as: .lines).rejections, at: time)
    }

    /// Quarantines rejected events.
    func keep(_ rejections: [Rejection], at time: Timestamp = ReplayFolder.arrival) async throws {
        let quarantine = try openQuarantine(at: time)
        quarantine.keep(rejections, source: "http", planVersion: nil)
        await quarantine.drain()
    }

    /// Quarantines valid events as refused by a tracker.
    func refuse(_ lines: [String], by tracker: String, as verdict: DeliveryVerdict = .refused) async throws {
        let validator = EventValidator(catalog: Self.catalog(minimumQuantity: 0), now: { Self.arrival })
        guard let batch = try validator.check(lines.joined(separator: "\n"), as: .lines).batch else { return }
        let events = (0..<batch.count).map { (event: TrackedEvent(batch: batch, index: $0), reason: "no table") }
        try await openQuarantine(at: Self.arrival).keep(events, refusedBy: tracker, as: verdict)
    }

    private func openQuarantine(at time: Timestamp) throws -> Quarantine {
        try Quarantine(folder: quarantine, logger: Self.silent, now: { time })
    }

    /// A copy of the quarantine as it is now, which is what a crash would leave.
    func copyOfQuarantine() throws -> ReplayFolder {
        let copy = try ReplayFolder()
        try FileManager.default.copyItem(atPath: quarantine, toPath: copy.quarantine)
        return copy
    }

    // MARK: Replays

    /// Everything, or the records that a filter selects.
    func selection(
        _ catalog: EventCatalog = ReplayFolder.catalog(),
        _ filter: QuarantineFilter = QuarantineFilter()
    ) -> ReplaySelection {
        ReplaySelection(catalog: catalog, quarantine: FolderQuarantine(path: quarantine), quarantineFilter: filter)
    }

    /// A replay to some trackers, which are all that are configured, or to those with some of their names.
    func replay(
        _ inputs: [ReplayInput] = [.quarantine],
        into trackers: [any Tracker],
        named names: [String]? = nil,
        catalog: EventCatalog = ReplayFolder.catalog(),
        configuration: Pipeline.Configuration = .init(),
        rejectedEvents: Quarantine = .discarding(logger: ReplayFolder.silent)
    ) throws -> Replay {
        let harness = try PipelineHarness(
            trackers,
            configuration: configuration,
            catalog: catalog,
            quarantine: rejectedEvents
        )
        return Replay(
            of: inputs,
            through: harness.pipeline,
            rejectedEvents: rejectedEvents,
            quarantine: FolderQuarantine(path: quarantine),
            trackers: names ?? trackers.map(\.name),
            configuredTrackers: names ?? trackers.map(\.name)
        )
    }
}

extension Replay {
    /// Runs it without reacting to signals.
    func run(progress: (any ReplayProgress)? = nil) async throws -> ReplayReport {
        try await run(stoppingOn: [], progress: progress, logger: ReplayFolder.silent)
    }
}

extension ReplayReport {
    /// How many events were read, accepted, rejected and left out by filters.
    var counts: [Int] { [read, accepted, rejected, skipped] }
}

extension ReplaySource {
    /// All parts to the end, or to an interrupt.
    func parts() async throws -> [ReplayPart] {
        var parts: [ReplayPart] = []
        while let part = try await next() { parts.append(part) }
        return parts
    }
}

extension [ReplayPart] {
    /// The canonical lines of the accepted events.
    var lines: [String] { flatMap(\.checked.lines) }

    /// The ids of the accepted events.
    var ids: [EventID] { flatMap { $0.checked.batch?.entries.map(\.id) ?? [] } }

    /// The rejected events.
    var rejections: [Rejection] { flatMap(\.checked.rejections) }

    /// The first code of each rejected event.
    var codes: [String] { rejections.compactMap { $0.violations.first?.code.rawValue } }
}
