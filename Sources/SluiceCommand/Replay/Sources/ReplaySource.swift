import EventModel
import EventSchema
import EventValidation
import Foundation
import TrackerKit

/// A source of events that a replay reads and validates, part by part.
///
/// A source is used by one thread at a time, which is not of the cooperative pool, so its calls may block.
protocol ReplaySource: AnyObject {
    /// The number of bytes read so far, for the progress.
    var bytesRead: Int { get }

    /// The next part; `nil` after the last, and once the replay is interrupted.
    ///
    /// - Throws: whatever keeps the rest of the source from being read.
    func next() async throws -> ReplayPart?

    /// Returns a sentence for each part that was skipped because it could not be read, since the last call.
    func takeFailures() -> [String]
}

/// A part of a source, validated.
struct ReplayPart: Sendable {
    let checked: CheckedBody
    /// Whether the events come from a quarantine, which keeps them already.
    var isQuarantined = false
    /// The record that this part is; `nil` unless the source is the quarantine.
    var recordKey: QuarantinedRecordKey?

    /// Whether a replay to some trackers delivers to every configured tracker that a record needs, because a record is sent only
    /// once; names are in lower case.
    func isSent(_ batch: EventBatch, to trackers: Set<String>, configured: Set<String>) -> Bool {
        guard recordKey != nil else { return true }
        let named = batch.entries.flatMap { batch.catalog.trackers(ofDefinition: Int($0.definitionIndex)) }
        let wanted = Set(named.map { $0.lowercased() }).intersection(configured)
        return !wanted.isEmpty && wanted.isSubset(of: trackers)
    }
}

/// A source as it is named on the command line.
enum ReplayInput: Hashable, CustomStringConvertible {
    case standardInput
    case file(String)
    case journal(folder: String)
    /// The selected quarantine.
    case quarantine

    private static let journalScheme = "journal://"

    init(_ argument: String) {
        self =
            switch argument {
            case "-": .standardInput
            case "quarantine": .quarantine
            case _ where argument.hasPrefix(Self.journalScheme):
                .journal(folder: String(argument.dropFirst(Self.journalScheme.count)))
            default: .file(argument)
            }
    }

    /// The argument.
    var description: String {
        switch self {
        case .standardInput: "-"
        case .file(let path): path
        case .journal(let folder): Self.journalScheme + folder
        case .quarantine: "quarantine"
        }
    }

    /// The number of bytes to read; `nil` if it is not known in advance.
    var byteCount: Int? {
        switch self {
        case .standardInput, .quarantine: nil
        case .file(let path): (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
        case .journal(let folder): JournalSource.byteCount(ofFolder: folder)
        }
    }

    /// Opens the source.
    func open(_ selection: ReplaySelection, stop: Interrupt) throws -> any ReplaySource {
        switch self {
        case .standardInput: try FileSource(path: nil, selection, stop: stop)
        case .file(let path): try FileSource(path: path, selection, stop: stop)
        case .journal(let folder): try JournalSource(folder: folder, selection, stop: stop)
        case .quarantine: try selection.quarantine.source(selection, stop: stop)
        }
    }
}

/// What a replay reads from its sources, and how.
struct ReplaySelection {
    let catalog: EventCatalog
    /// The maximum number of lines in a part.
    let maximumLines: Int
    /// The times of the events that are wanted, in microseconds since 1970; `nil` for all.
    ///
    /// Sources may leave out other events if they can do so without reading them.
    let times: ClosedRange<Int64>?
    /// What `quarantine` means.
    let quarantine: any QuarantineStore
    let quarantineFilter: QuarantineFilter
}

/// Lines that were read and not yet validated.
struct PendingLines {
    private let validator: EventValidator
    private let maximumLines: Int
    private var lines: ArraySlice<UInt8> = []
    private var arrival: Timestamp?

    init(_ validator: EventValidator, maximumLines: Int) {
        self.validator = validator
        self.maximumLines = maximumLines
    }

    var isEmpty: Bool { lines.isEmpty }

    /// Sets the next lines; call it only when all earlier ones are validated.
    ///
    /// - Parameter arrival: When they arrived, which is the time of events that state none; `nil` for now.
    mutating func fill(_ lines: [UInt8], arrival: Timestamp? = nil) {
        self.lines = lines[...]
        self.arrival = arrival
    }

    /// Validates the next part.
    ///
    /// - Throws: if there is not enough memory for a line; an invalid line is a rejection, not an error.
    mutating func check() throws -> CheckedBody {
        let end = endOfPart
        let part = lines[..<end]
        lines = lines[end...]
        return try part.withUnsafeBytes { try validator.check(lines: $0, arrival: arrival) }
    }

    private var endOfPart: Int {
        guard maximumLines < .max else { return lines.endIndex }
        var count = 0
        for (index, byte) in zip(lines.indices, lines) where byte == UInt8(ascii: "\n") {
            count += 1
            if count == maximumLines { return index + 1 }
        }
        return lines.endIndex
    }
}
