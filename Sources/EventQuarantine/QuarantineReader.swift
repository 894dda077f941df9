package import EventJournal
import EventModel

/// Reads the events of a quarantine, part by part, while other processes may be writing them.
package struct QuarantineReader: ~Copyable {
    /// Events that were stored in one commit.
    package struct Entries: Sendable {
        package let part: QuarantineFolder.Part
        /// The part's unique identity.
        package let partID: String
        /// The sequence number of the first event in its part; the others follow it.
        package let firstSequence: UInt64
        /// The lines (`QuarantineLine`), with their newlines.
        package let lines: [UInt8]
    }

    private let folder: QuarantineFolder
    private let since: Int64?
    private var parts: ArraySlice<QuarantineFolder.Part>
    private var walk: JournalWalk?
    private var part = QuarantineFolder.Part(kind: .mixed, number: 0)
    private var partID = ""
    /// Damaged and missing places so far, one sentence each.
    package private(set) var findings: [String] = []

    /// Starts with the first part; events stored before `since`, in microseconds since 1970, may be skipped.
    ///
    /// - Throws: `unreadable` if there is no such folder.
    package init(_ folder: QuarantineFolder, since: Int64? = nil) throws(JournalError) {
        self.folder = folder
        self.since = since
        parts = try folder.parts()[...]
    }

    /// Reads the next entries; `nil` after the last.
    ///
    /// - Throws: If a file cannot be read.
    package mutating func next() throws(JournalError) -> Entries? {
        do throws(FileError) {
            while true {
                switch try walk?.next() ?? .end {
                case .frame(let header, let bytes, _):
                    guard let lines = lines(of: bytes) else {
                        note("the frame of event \(header.firstSequence) holds no verdicts")
                        continue
                    }
                    return Entries(part: part, partID: partID, firstSequence: header.firstSequence, lines: lines)
                case .damage(let damage): note("\(damage)")
                case .gap(let gap): note("\(gap)")
                // A running process is writing it, has removed it, or it is outside the selection.
                case .unfinished, .retired, .passed: break
                case .end:
                    guard let next = parts.popFirst() else { return nil }
                    part = next
                    let files = try PosixFileSystem(existing: folder.folder(of: next), isReadOnly: true)
                    partID = try JournalID(of: files)?.description ?? "\(next)"
                    walk = try JournalWalk(files, selecting: since.map { FrameSelection(times: $0 ... .max) })
                }
            }
        } catch {
            throw JournalError(.unreadable, "The quarantine '\(folder.path)' cannot be read: \(error).")
        }
    }

    private mutating func note(_ finding: String) {
        findings.append("\(folder.folder(of: part)): \(finding)")
    }

    private func lines(of payload: UnsafeRawBufferPointer) -> [UInt8]? {
        switch part.kind {
        case .verdicts: VerdictRecords.lines(of: payload)
        case .mixed, .refused: Array(payload)
        }
    }
}
