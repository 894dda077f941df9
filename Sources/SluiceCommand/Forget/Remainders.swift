import EventJournal
import EventModel
import EventValidation
import Logging
import SluiceKafka
import SluiceSettings
import TrackerKit

/// Finds out where a person's events remain after an erasure, until when, and whose task it is to remove them.
struct Remainders {
    /// How much later than its limit a file of the journal or the quarantine may be removed.
    private static let removalDelay = Duration.seconds(2 * 3600)
    /// A segment of the quarantine takes records for at most a day.
    private static let quarantineSegment = Duration.seconds(86_400)

    let settings: Settings
    /// The topic that gets every event; `nil` without a relay.
    let relay: KafkaConfiguration?
    let catalog: EventCatalog
    let trackers: [any Tracker]
    let requestedAt: Timestamp
    /// The number of the journal's next event when the erasure was requested; `nil` if there was no journal to read.
    let journalEnd: UInt64?

    /// The number of the next event of a journal in a folder; `nil` if there is no journal to read.
    static func end(ofJournal folder: String?) -> UInt64? {
        folder.flatMap { try? Inspection(ExistingJournal(reading: $0).files).nextSequence }
    }

    /// All remainders, in the order in which they should be looked at.
    func all() async -> [Remainder] {
        var remainders: [Remainder] = []
        if let journal = settings.journal {
            let holding = journal.configuration.retentionDropsUndelivered ? [] : trackersHoldingBack(journal)
            remainders += [self.journal(journal, heldBackBy: holding), cuts(of: journal, isHeldBack: !holding.isEmpty)]
        }
        remainders.append(quarantine)
        for tracker in trackers where !(tracker is any ErasingTracker) { remainders += await of(tracker) }
        if let relay { remainders += await topics(of: relay, as: "relay") }
        if let load = settings.load {
            let configuration = KafkaConfiguration(
                brokers: load.brokers,
                name: "load.from",
                topic: load.topic,
                properties: load.properties,
                readChangingProperties: load.readChangingProperties
            )
            remainders += await topics(of: configuration, as: "load.from")
        }
        return remainders + Self.elsewhere
    }

    // MARK: Files of Sluice

    private func journal(_ journal: Settings.Journal, heldBackBy holding: [String]) -> Remainder {
        let until = later(by: journal.configuration.retentionAge * 2 + Self.removalDelay)
        let note = """
            Segments of '\(journal.folder)' still have the events; no tracker gets them. They are removed while 'sluice serve' runs.
            """
        guard !holding.isEmpty else {
            return Remainder(place: "journal", note: note, until: until, task: .sluice)
        }
        let names = holding.joined(separator: ", ")
        return Remainder(
            place: "journal",
            note: """
                \(note) This does not happen before these trackers have delivered or skipped them: \(names). Once they have, none are \
                left by \(until) or, if that is past, at once.
                """,
            until: nil,
            task: .operatorsTask
        )
    }

    /// The trackers for which the journal keeps events from before the request.
    private func trackersHoldingBack(_ journal: Settings.Journal) -> [String] {
        guard let journalEnd, let found = try? Inspection(ExistingJournal(reading: journal.folder).files) else {
            return []
        }
        return found.cursors.filter { cursor in
            // One that never had any holds everything.
            found.firstSequence < journalEnd && (cursor.sequence ?? 0) < journalEnd
        }.map(\.tracker)
    }

    private func cuts(of journal: Settings.Journal, isHeldBack: Bool) -> Remainder {
        let note = """
            Damaged bytes that a recovery or a repair has cut off may contain the events; 'sluice journal inspect' lists the files.
            """
        // They are removed when a segment is, or at the start.
        let until = later(by: CutFile.retention + journal.configuration.retentionAge * 2 + Self.removalDelay)
        return Remainder(
            place: "journal's .cut files",
            note: isHeldBack
                ? "\(note) They are removed with a segment, so not before the trackers of the line before have caught up."
                : note,
            until: isHeldBack ? nil : until,
            task: isHeldBack ? .operatorsTask : .sluice
        )
    }

    private var quarantine: Remainder {
        Remainder(
            place: "quarantine",
            note: """
                '\(settings.process.quarantineFolder)' may have rejected, refused or parked events of the person. They are removed while \
                'sluice serve' or 'sluice load' runs; until then, do not export them.
                """,
            until: later(by: settings.process.quarantineRetention + Self.quarantineSegment + Self.removalDelay),
            task: .sluice
        )
    }

    // MARK: Destinations

    private func of(_ tracker: any Tracker) async -> [Remainder] {
        if let tracker = tracker as? any RetainingTracker { return await retentions(of: tracker, catalog) }
        let isPrinting = (tracker as? any PrintingTracker)?.writesToStandardOutput == true
        return [
            Remainder(
                place: tracker.name,
                note: isPrinting
                    ? "Whatever has stored the standard output of Sluice has the events."
                    : "The destination has the events; Sluice cannot erase them there.",
                until: nil,
                task: .operatorsTask
            )
        ]
    }

    private func topics(of configuration: KafkaConfiguration, as place: String) async -> [Remainder] {
        let tracker = KafkaTracker(configuration, logger: Logger(label: "sluice") { _ in SwiftLogNoOpLogHandler() })
        return await retentions(of: tracker, catalog.sendingEverything(to: configuration.name), as: place)
    }

    private func retentions(
        of tracker: any RetainingTracker,
        _ catalog: EventCatalog,
        as place: String? = nil
    ) async -> [Remainder] {
        let name = place ?? tracker.name
        let retentions: [PlaceRetention]
        do throws(TrackerError) {
            retentions = try await tracker.retentions(for: catalog)
        } catch {
            await tracker.stop()
            let note = "Topics have the events; the brokers could not be asked until when: \(error.message)"
            return [Remainder(place: name, note: note, until: nil, task: .operatorsTask)]
        }
        await tracker.stop()
        return retentions.map { retention in
            guard let duration = retention.duration else {
                let note = """
                    The topic '\(retention.place)' has the events, and the brokers state no time at which they remove all of them: \
                    set its retention.ms, with cleanup.policy=delete.
                    """
                return Remainder(place: name, note: note, until: nil, task: .operatorsTask)
            }
            return Remainder(
                place: name,
                note:
                    "The topic '\(retention.place)' has the events; 'sluice load' skips them. Other consumers do not.",
                until: later(by: duration + Self.removalDelay),
                task: .destination
            )
        }
    }

    // MARK: Elsewhere

    /// What Sluice cannot look at.
    private static let elsewhere = [
        Remainder(
            place: "other machines",
            note: """
                The lines about the journal and the quarantine are of the machine that ran 'sluice forget'; those of other machines have \
                the events as well. Once all machines have this receipt, run 'sluice forget --again' with it, since they may have loaded \
                events of the person before.
                """,
            until: nil,
            task: .operatorsTask
        ),
        Remainder(
            place: "archives",
            note: """
                Exported files, and months that were archived before they were dropped, have the events. Files without 'receivedAt' \
                count as new when they are replayed.
                """,
            until: nil,
            task: .operatorsTask
        ),
        Remainder(
            place: "backups",
            note: """
                Backups of the database, its write-ahead log and its replicas' snapshots have the rows. After a restore, run 'sluice \
                forget --again' with the receipts before anybody reads; 'sluice check' fails until then.
                """,
            until: nil,
            task: .operatorsTask
        ),
        Remainder(
            place: "PostgreSQL's log",
            note: """
                With log_statement, log_min_duration_statement or an audit extension, the log of the server has the statements of 'sluice \
                forget' with the identifiers as parameters. Remove these entries.
                """,
            until: nil,
            task: .operatorsTask
        ),
        Remainder(
            place: "derived tables",
            note:
                "Tables that dbt or others have built from the events have copies: rebuild them, dbt with --full-refresh.",
            until: nil,
            task: .operatorsTask
        ),
        Remainder(
            place: "clients",
            note: """
                An app that is offline may send events of the person later. They count as received then: let the app forget its queue.
                """,
            until: nil,
            task: .operatorsTask
        ),
    ]

    private func later(by duration: Duration) -> String {
        let end = requestedAt.microseconds + Int64(duration / .microseconds(1))
        // Rounded up to a second.
        return Timestamp(microseconds: (end / 1_000_000 + 1) * 1_000_000, fractionDigits: 0).description
    }
}
