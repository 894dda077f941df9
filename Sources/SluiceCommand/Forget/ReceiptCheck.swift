import EventModel
import EventValidation
import SluiceSettings
import TrackerKit

/// Compares receipts with the tombstones that destinations store, for `sluice check`.
struct ReceiptCheck {
    let settings: Settings
    /// The trackers to ask; those that do not answer at all are reported elsewhere.
    let trackers: [any ErasingTracker]
    /// How long each may take to answer.
    let limit: Duration
    private let clock = RelativeClock(ContinuousClock())

    /// The part of the report; `nil` if there is no sign of an erasure.
    func part() async -> CheckReport.Part? {
        var part = CheckReport.Part(name: "receipts", summary: "", problems: [])
        let receipts = receipts(&part)
        for tracker in trackers {
            switch await tombstones(of: tracker) {
            case .success(let stored): compare(receipts, with: stored, of: tracker.name, &part)
            case .failure(let error):
                guard settings.receiptsFolder != nil else { continue }
                note(
                    "receipts-unchecked",
                    "The tombstones of '\(tracker.name)' cannot be read: \(error.message)",
                    &part
                )
            }
        }
        guard settings.receiptsFolder != nil || !part.problems.isEmpty else { return nil }
        part.summary = "\(receipts.count.of("receipt")) in \(settings.receiptsFolder ?? "no folder")"
        return part
    }

    private func tombstones(of tracker: any ErasingTracker) async -> Result<[Tombstone], TrackerError> {
        await withTaskGroup(of: Result<[Tombstone], TrackerError>.self) { group in
            group.addTask {
                do throws(TrackerError) {
                    return .success(try await tracker.storedTombstones())
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await clock.sleepUntil(clock.now() + limit)
                return .failure(TrackerError(code: .timeout, message: "No answer within \(limit).", isRetryable: true))
            }
            defer { group.cancelAll() }
            return await group.next() ?? .success([])
        }
    }

    /// Reads the receipts, and notes what is wrong with them.
    private func receipts(_ part: inout CheckReport.Part) -> [Receipt] {
        guard let folder = settings.receiptsFolder, let key = settings.hashKey else { return [] }
        let receipts: [Receipt]
        do throws(ReceiptFolder.Failure) {
            let folder = ReceiptFolder(path: folder)
            _ = try folder.existingNames()
            receipts = try folder.read().map(\.receipt)
        } catch {
            note("receipts-unreadable", "The receipts cannot be used: \(error)", &part)
            return []
        }
        let others = receipts.count { !$0.isMade(with: key) }
        if others > 0 {
            note(
                "receipt-of-another-key",
                "\(others.of("receipt")) in '\(folder)' were made with another key than privacy.hashKeyFile, so they do not apply.",
                &part
            )
        }
        for receipt in receipts where receipt.finishedAt == nil {
            note(
                "erasure-unfinished",
                "The erasure of '\(receipt.fileName)' was interrupted; run 'sluice forget --again \(folder)/\(receipt.fileName)'.",
                &part
            )
        }
        return receipts
    }

    private func compare(
        _ receipts: [Receipt],
        with stored: [Tombstone],
        of tracker: String,
        _ part: inout CheckReport.Part
    ) {
        // The latest request for an identifier counts, on both sides.
        let present = Self.latest(stored)
        let wanted = Self.latest(receipts.flatMap(\.datedTombstones))
        // The tombstones of an unfinished receipt are stored at its end, and it is reported itself.
        let lost = receipts.filter { receipt in
            receipt.finishedAt != nil
                && receipt.datedTombstones.contains { tombstone in
                    present[tombstone.identifier].map { $0 < tombstone.requestedAt } ?? true
                }
        }
        if !lost.isEmpty {
            note(
                "erasure-undone",
                """
                '\(tracker)' does not know \(lost.count.of("receipt")), so it was restored from an older backup or is a new database; \
                run 'sluice forget --again \(settings.receiptsFolder ?? "")'.
                """,
                &part
            )
        }
        let unknown = present.count { known in wanted[known.key].map { $0 < known.value } ?? true }
        if unknown > 0 {
            note(
                "receipt-missing",
                """
                '\(tracker)' has \(unknown.of("tombstone")) without a receipt here, so serve, load and replay do not drop these people's \
                events; set privacy.receiptsFolder, and copy the receipts there.
                """,
                &part
            )
        }
    }

    private static func latest(_ tombstones: [Tombstone]) -> [Tombstone.Identifier: Timestamp] {
        Dictionary(tombstones.map { ($0.identifier, $0.requestedAt) }) { max($0, $1) }
    }

    private func note(_ code: String, _ sentence: String, _ part: inout CheckReport.Part) {
        part.problems.append(CheckReport.Problem(code: code, sentence: sentence))
    }
}

extension Tombstone {
    /// What it is of.
    fileprivate struct Identifier: Hashable {
        let subject: Subject
        let hash: String
    }

    fileprivate var identifier: Identifier { Identifier(subject: subject, hash: hash) }
}
