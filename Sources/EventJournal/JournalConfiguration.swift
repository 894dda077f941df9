/// How a journal is written, and how large it may become.
public struct JournalConfiguration: Sendable, Hashable {
    /// When a commit is acknowledged.
    public enum Durability: Sendable, Hashable {
        /// After `fdatasync`: what was acknowledged survives a loss of power.
        case fsync
        /// After `write`, with an `fdatasync` so long after the last: what was acknowledged survives the end of the
        /// process, and a loss of power takes what was acknowledged since the last sync that did not fail.
        case interval(Duration)
        /// After `write`: what was acknowledged survives the end of the process, and a loss of power takes what the
        /// system had not written by itself, which may be half a minute of it.
        case none
    }

    /// When a commit is acknowledged.
    ///
    /// Default: after `fdatasync`.
    public var durability: Durability
    /// How large a segment becomes before the next one begins.
    ///
    /// Default: 256 MiB.
    public var segmentBytes: Int
    /// How many bytes all segments together may have.
    ///
    /// Default: 10 GiB.
    public var maximumBytes: Int
    /// How many bytes must stay free on the file system.
    ///
    /// Default: 256 MiB.
    public var minimumFreeBytes: Int

    /// How long segments are kept that every tracker has got through, for replays.
    ///
    /// Default: 7 days.
    ///
    /// It is the segment's last event that must be so old. A segment to which events come slowly is ended when its first
    /// event is, so that no event is kept twice as long.
    public var retentionAge: Duration
    /// How many bytes all segments together may have before such segments are removed earlier.
    ///
    /// Default: 2 GiB.
    ///
    /// Where it is more, it counts as one segment less than `maximumBytes`.
    public var retentionBytes: Int
    /// Whether a segment past this age, or beyond this size, is removed though a tracker still needs it; false unless
    /// told.
    ///
    /// What the tracker loses is counted and logged.
    public var retentionDropsUndelivered: Bool

    /// Takes the defaults, or what is stated instead.
    public init(
        durability: Durability = .fsync,
        segmentBytes: Int = 256 << 20,
        maximumBytes: Int = 10 << 30,
        minimumFreeBytes: Int = 256 << 20,
        retentionAge: Duration = .seconds(7 * 86_400),
        retentionBytes: Int = 2 << 30,
        retentionDropsUndelivered: Bool = false
    ) {
        self.durability = durability
        // A full journal must have segments to remove.
        self.segmentBytes = max(1 << 16, min(segmentBytes, maximumBytes / 4))
        self.maximumBytes = maximumBytes
        self.minimumFreeBytes = minimumFreeBytes
        self.retentionAge = retentionAge
        self.retentionBytes = retentionBytes
        self.retentionDropsUndelivered = retentionDropsUndelivered
    }
}

extension JournalConfiguration.Durability {
    /// Whether each commit is synced before it is acknowledged.
    var syncsEachCommit: Bool { self == .fsync }
}
