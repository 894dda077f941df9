import EventModel
import EventValidation
import Foundation
import TrackerKit

/// Reads and checks one file or journal after the other, on a thread of its own.
actor ReplayReader {
    /// A part of the input, checked.
    struct Part: Sendable {
        let path: String
        let checked: CheckedBody
        /// Whether it comes from a quarantine, where it is kept already.
        var isQuarantined = false
        /// The record of the configured quarantine that this is; `nil` where it is none.
        var record: Record?
    }

    /// A record of the quarantine.
    struct Record: Sendable {
        /// What tells it from every other.
        let key: String
        /// The tracker that did not take it; `nil` where it did not follow the plan.
        let tracker: String?
    }

    private let thread: BlockingThread
    private let interrupt = Interrupt()
    private let catalog: EventCatalog
    private let maximumLines: Int
    private let times: ClosedRange<Int64>?
    private let quarantine: QuarantineChoice
    private var paths: ArraySlice<String>
    private var current: OpenFile?
    /// Where the configured quarantine is read just now.
    private var records: QuarantineSource?
    private(set) var failures: [String] = []
    private var bytesOfClosedFiles = 0

    /// A file that is being read.
    private final class OpenFile {
        let path: String
        let source: any ReplayInput
        let validator: EventValidator
        var isQuarantine: Bool?
        /// Lines that were read but not checked yet.
        var lines: ArraySlice<UInt8> = []

        init(path: String, catalog: EventCatalog, times: ClosedRange<Int64>?, stop: Interrupt) throws {
            self.path = path
            if let folder = JournalSource.folder(ofPath: path) {
                source = try JournalSource(folder: folder, times: times, stop: stop)
                validator = EventValidator(rereading: catalog)
                isQuarantine = false
                return
            }
            source = try ReplaySource(path: path, stop: stop)
            validator = EventValidator(
                catalog: catalog,
                identity: path == "-" ? .assigned : .derived(source: Self.baseName(of: path)),
                acceptsReceivedAt: true
            )
        }

        private static func baseName(of path: String) -> String {
            let name = URL(fileURLWithPath: path).lastPathComponent
            return name.hasSuffix(".gz") ? String(name.dropLast(3)) : name
        }
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Reads `paths` in their order, in parts of at most `maximumLines` lines.
    ///
    /// What holds no event of `times`, in microseconds since 1970, is left out where that can be said without reading.
    ///
    /// - Throws: Where there is no thread to be had.
    init(
        paths: [String],
        catalog: EventCatalog,
        maximumLines: Int,
        times: ClosedRange<Int64>?,
        quarantine: QuarantineChoice
    ) throws(TrackerError) {
        thread = try BlockingThread()
        self.quarantine = quarantine
        self.times = times
        self.paths = paths[...]
        self.catalog = catalog
        self.maximumLines = maximumLines
    }

    /// How many bytes were read so far.
    var bytesRead: Int { bytesOfClosedFiles + (current?.source.bytesRead ?? 0) + (records?.bytesRead ?? 0) }

    /// Makes `next` give no more, also one that waits for input.
    nonisolated func stop() { interrupt.raise() }

    /// The next part; `nil` after the last.
    ///
    /// A file that cannot be read is noted in `failures`, and the next one is taken; so is damage in a journal.
    func next() -> Part? {
        while !interrupt.isRaised {
            if let part = nextRecord() { return part }
            guard let file = openFile() else {
                if records == nil { return nil }
                continue
            }
            do {
                let checked = try check(file)
                failures += file.source.takeFailures().map { "\(file.path): \($0)" }
                if let checked {
                    return Part(path: file.path, checked: checked, isQuarantined: file.isQuarantine ?? false)
                }
            } catch {
                failures.append("\(file.path): \(error)")
            }
            bytesOfClosedFiles += file.source.bytesRead
            current = nil
        }
        return nil
    }

    /// The next record of the configured quarantine, where that is what is read.
    private func nextRecord() -> Part? {
        guard let records else { return nil }
        do {
            if let next = try records.next() {
                let record = Record(key: next.record.key, tracker: next.record.tracker)
                return Part(path: QuarantineSource.name, checked: next.body, isQuarantined: true, record: record)
            }
        } catch {
            failures.append("\(quarantine.folder): \(error)")
        }
        failures += records.findings
        bytesOfClosedFiles += records.bytesRead
        self.records = nil
        return nil
    }

    private func openFile() -> OpenFile? {
        while current == nil, records == nil, let path = paths.popFirst() {
            do {
                if path == QuarantineSource.name {
                    records = try QuarantineSource(
                        folder: quarantine.folder,
                        filter: quarantine.filter,
                        catalog: catalog,
                        stop: interrupt
                    )
                    continue
                }
                current = try OpenFile(path: path, catalog: catalog, times: times, stop: interrupt)
            } catch {
                failures.append("\(path): \(error)")
            }
        }
        return current
    }

    private func check(_ file: OpenFile) throws -> CheckedBody? {
        if file.lines.isEmpty {
            guard let lines = try file.source.next() else { return nil }
            let isQuarantine = file.isQuarantine ?? QuarantinedLine.isFirst(in: lines)
            file.isQuarantine = isQuarantine
            file.lines = isQuarantine ? QuarantinedLine.events(in: lines)[...] : lines[...]
        }
        let end = endOfPart(of: file.lines)
        let part = file.lines[..<end]
        file.lines = file.lines[end...]
        // Lines are never malformed as a whole, for each broken one is a rejection; but there may be no memory for one.
        return try part.withUnsafeBytes { try file.validator.check($0, as: .lines) }
    }

    private func endOfPart(of lines: ArraySlice<UInt8>) -> Int {
        guard maximumLines < .max else { return lines.endIndex }
        var count = 0
        for (index, byte) in zip(lines.indices, lines) where byte == UInt8(ascii: "\n") {
            count += 1
            if count == maximumLines { return index + 1 }
        }
        return lines.endIndex
    }

}
