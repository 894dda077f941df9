import EventJournal
import EventModel
package import EventPipeline
import EventQuarantine
package import SettingDefinitions
package import TrackerKit

extension Pipeline.Configuration: Configurable {
    package static var defaults: Pipeline.Configuration { .journaled }
}

extension Pipeline.Queue: Configurable {
    package static var defaults: Pipeline.Queue { Pipeline.Configuration.defaults.queue }
}

extension DeliveryLimits: Configurable {
    package static var defaults: DeliveryLimits { Pipeline.Configuration.defaults.delivery }
}

extension SettingKey {
    static let queuePolicy = QueueSettings.policy.key
    static let commitOverdue = PipelineSettings.commitOverdue.key
    fileprivate static let parkAfter = SettingKey(
        duration: "delivery.parkAfterSeconds",
        """
        How long deliveries of some events may fail, in seconds, while the tracker can deliver others, before those \
        events are parked in the quarantine; the events behind them wait for at most this time. `sluice load` \
        refuses such records after it.
        """,
        default: Pipeline.Configuration.defaults.parkAfter ?? .zero,
        isChangeable: true
    )
}

/// The limits of a tracker's queue.
enum QueueSettings {
    fileprivate static let policy = Setting<Pipeline.Queue>.choice(
        "queue.policy",
        \.fullPolicy,
        scope: .processAndTracker,
        """
        What happens when a queue is full: spill (the tracker continues from the journal), wait, dropNewest or \
        dropOldest. Without a journal, the default is wait.
        """
    )

    static let all: [Setting<Pipeline.Queue>] = [
        .count(
            "queue.capacityInEvents",
            \.capacityInEvents,
            scope: .processAndTracker,
            isChangeable: true,
            "The maximum number of events in a tracker's queue."
        ),
        .count(
            "queue.capacityInBytes",
            \.capacityInBytes,
            scope: .processAndTracker,
            isChangeable: true,
            "The maximum size of a tracker's queue, in bytes."
        ),
        policy,
    ]
}

/// How many events a tracker gets at a time.
enum DeliverySettings {
    static let all: [Setting<DeliveryLimits>] = [
        .count(
            "delivery.maximumEvents",
            \.maximumEvents,
            scope: .processAndTracker,
            isChangeable: true,
            "The maximum number of events in one delivery."
        ),
        .duration(
            "delivery.lingerMilliseconds",
            \.linger,
            scope: .processAndTracker,
            isChangeable: true,
            "How long a delivery waits for more events, in milliseconds."
        ),
    ]
}

/// The times that new events may have.
enum EventTimeSettings {
    static let all: [Setting<Pipeline.Configuration>] = [
        .duration(
            "events.maximumAgeDays",
            \.eventTimes.past,
            within: 1...3_650_000,
            """
            How long before its arrival an event may have happened, in days; an event with an earlier time is rejected. \
            A correction of a client's clock with such a result is not made. It does not apply to replays and to \
            `sluice load`.
            """
        ),
        .duration(
            "events.maximumLeadDays",
            \.eventTimes.ahead,
            within: 0...3_650_000,
            "How long after its arrival an event may have happened, in days, because clocks of clients may be ahead."
        ),
    ]
}

/// The settings of the pipeline that all trackers share.
enum PipelineSettings {
    fileprivate static let commitOverdue = Setting<Pipeline.Configuration>.duration(
        "journal.commitOverdueSeconds",
        \.commitOverdueAfter,
        within: 1...86_400_000,
        "How long the disk may take for one commit, in seconds; after that, new requests are answered with 503 at once."
    )

    static let all: [Setting<Pipeline.Configuration>] = [
        commitOverdue,
        Setting(.parkAfter) { values, pipeline in
            if let time = values.duration(.parkAfter) { pipeline.parkAfter = time }
        },
        .duration(
            "shutdown.timeoutSeconds",
            \.shutdownTimeout,
            "How long the queues may take to drain during a shutdown, in seconds."
        ),
    ]
}

// MARK: The journal

extension SettingKey {
    package static let journalEnabled = JournalSettings.enabled.key
    package static let journalFolder = JournalSettings.folder.key
}

/// The settings of the journal.
struct JournalSettings: Configurable {
    static let defaults = JournalSettings()

    var isEnabled = true
    var folder = Settings.defaultJournalFolder
    /// The settings of the journal, except for its durability.
    fileprivate var configuration = JournalConfiguration()
    fileprivate var durability = Durability.fsync
    fileprivate var interval = Duration.seconds(1)

    /// The values of `journal.durability`.
    fileprivate enum Durability: String, CaseIterable {
        case fsync, interval, none
    }

    /// The journal; `nil` if there is none.
    var journal: Settings.Journal? {
        guard isEnabled else { return nil }
        var configuration = configuration
        configuration.durability =
            switch durability {
            case .fsync: .fsync
            case .interval: .interval(interval)
            case .none: .none
            }
        return Settings.Journal(folder: folder, configuration: configuration)
    }
}

extension JournalSettings {
    fileprivate static let enabled = Setting<JournalSettings>.flag(
        "journal.enabled",
        \.isEnabled,
        option: "--no-journal",
        "Whether serve keeps a journal. Without one, accepted events are in memory until they are delivered."
    )
    fileprivate static let folder = Setting<JournalSettings>.text(
        "journal.folder",
        \.folder,
        option: "--journal",
        "The folder of the journal, which keeps accepted events until every tracker has them."
    )

    static let all: [Setting<JournalSettings>] = [
        enabled,
        folder,
        .choice(
            "journal.durability",
            \.durability,
            "When events are acknowledged: fsync (once they are on disk), interval or none."
        ),
        .duration(
            "journal.intervalMilliseconds",
            \.interval,
            "How often the journal is synced, in milliseconds, if the durability is interval."
        ),
        .count(
            "journal.maximumBytes",
            \.configuration.maximumBytes,
            "The maximum size of the journal, in bytes; at this size no events are accepted."
        ),
        .duration(
            "journal.retention.ageHours",
            \.configuration.retentionAge,
            "How long delivered segments are kept for replays, in hours."
        ),
        .count(
            "journal.retention.bytes",
            \.configuration.retentionBytes,
            "The size of the journal, in bytes, above which the oldest delivered segments are removed earlier."
        ),
        .flag(
            "journal.retention.dropUndelivered",
            \.configuration.retentionDropsUndelivered,
            "Whether the two retention limits also remove segments that a tracker still needs; it then loses their events."
        ),
    ]
}
