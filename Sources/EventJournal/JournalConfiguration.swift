/// How a journal, the write-ahead log, is synced, and its size limits.
public struct JournalConfiguration: Sendable, Hashable {
    /// When a commit is acknowledged; later versions may add choices.
    public struct Durability: Sendable, Hashable, CustomStringConvertible {
        package enum Kind: Hashable, Sendable {
            case fsync
            case interval(Duration)
            case none
        }

        package let kind: Kind

        /// After `fdatasync`: acknowledged events survive a loss of power.
        public static let fsync = Self(kind: .fsync)
        /// After `write`, with an `fdatasync` at this interval.
        ///
        /// Acknowledged events survive the end of the process; a loss of power loses those since the last successful sync.
        public static func interval(_ interval: Duration) -> Self { Self(kind: .interval(interval)) }
        /// After `write`, without a sync.
        ///
        /// Acknowledged events survive the end of the process; a loss of power loses those that the operating system had
        /// not written on its own, up to about half a minute of them.
        public static let none = Self(kind: .none)

        /// The interval between syncs; `nil` unless made by `interval(_:)`.
        public var syncInterval: Duration? {
            if case .interval(let interval) = kind { interval } else { nil }
        }

        /// The name of the choice, for example `fsync` or `interval(1.0 seconds)`.
        public var description: String {
            switch kind {
            case .fsync: "fsync"
            case .interval(let interval): "interval(\(interval))"
            case .none: "none"
            }
        }

        /// Whether each commit is synced before it is acknowledged.
        var syncsEachCommit: Bool { kind == .fsync }
    }

    /// When a commit is acknowledged.
    ///
    /// Default: `fsync`.
    public var durability: Durability
    /// The size, in bytes, at which a new segment begins.
    ///
    /// Default: 256 MiB. The least is 64 KiB, the most a quarter of `maximumBytes`.
    public var segmentBytes: Int {
        // A full journal must have segments to remove, in whatever order the sizes are set.
        get { max(leastSegmentBytes, min(requestedSegmentBytes, max(Self.minimumSegmentBytes, maximumBytes / 4))) }
        set { requestedSegmentBytes = newValue }
    }
    private var requestedSegmentBytes: Int
    private static let minimumSegmentBytes = 1 << 16
    /// The minimum `segmentBytes`; tests set a smaller one, so that a few events need several segments.
    package var leastSegmentBytes = JournalConfiguration.minimumSegmentBytes
    /// How many bytes are preallocated at once; tests set a smaller number.
    ///
    /// A larger number makes the sync that writes them slower.
    package var preallocationBytes = 1 << 20
    /// The maximum number of bytes of all segments together; beyond it commits fail with `full`.
    ///
    /// Default: 10 GiB.
    public var maximumBytes: Int
    /// The minimum free space, in bytes, on the file system; below it commits fail with `full`.
    ///
    /// Default: 256 MiB.
    public var minimumFreeBytes: Int

    /// How long segments that every tracker has read are kept for replays.
    ///
    /// Default: 7 days.
    ///
    /// The age of a segment is that of its last event. A segment that fills slowly is ended when its first event reaches this
    /// age, so no event is kept for more than twice as long.
    public var retentionAge: Duration
    /// The maximum number of bytes of all segments together before segments that every tracker has read are removed early.
    ///
    /// Default: 2 GiB. A larger value counts as one segment less than `maximumBytes`.
    public var retentionBytes: Int
    /// Whether retention also removes segments that a tracker has not read yet.
    ///
    /// Default: false. Events that a tracker loses this way are counted and logged.
    public var retentionDropsUndelivered: Bool

    /// Makes a configuration; see the properties for the defaults.
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
        requestedSegmentBytes = segmentBytes
        self.maximumBytes = maximumBytes
        self.minimumFreeBytes = minimumFreeBytes
        self.retentionAge = retentionAge
        self.retentionBytes = retentionBytes
        self.retentionDropsUndelivered = retentionDropsUndelivered
    }
}
