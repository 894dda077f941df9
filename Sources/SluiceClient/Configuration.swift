import EventModel
public import Foundation

extension EventClient {
    /// The server, the queue and the limits.
    public struct Configuration: Sendable {
        /// The server's address, without a path: `https://events.example.com`.
        public var url: URL
        /// The write key; `nil` if the server needs none.
        public var key: String?
        /// The folder of the queue, for this client only.
        public var folder: String
        /// The maximum size of the queue, in bytes; then `track` throws `full`.
        ///
        /// Default: 64 MiB.
        public var capacityInBytes = 64 << 20
        /// The maximum number of events of a batch.
        ///
        /// Default: 500.
        public var maximumBatchEvents = 500
        /// The maximum size of a batch, in bytes; an event that is larger is a batch of its own.
        ///
        /// Default: 512 KiB; at most 64 MiB.
        public var maximumBatchBytes = 512 << 10
        /// How long a batch waits for more events.
        ///
        /// Default: 5 s.
        public var linger = Duration.seconds(5)
        /// How long the server may be silent; a request may take ten times as long in all.
        ///
        /// Default: 30 s.
        public var timeout = Duration.seconds(30)
        /// Called with what the developer should know; on no particular thread.
        public var onReport: @Sendable (Report) -> Void = { _ in }

        /// Makes a configuration; everything else has its default.
        public init(url: URL, key: String? = nil, folder: String) {
            self.url = url
            self.key = key
            self.folder = folder
        }
    }

    /// What happened to events that were queued.
    public enum Report: Sendable, Hashable {
        /// The server rejected these events, because they do not follow its plan. They are not sent again.
        case rejected([RejectedEvent])
        /// This many events are lost, for this reason.
        case lost(events: Int, reason: String)
        /// The server cannot be reached, or does not accept events now. They stay in the queue, and the next attempt follows.
        case delayed(reason: String)
        /// The server refuses the key or the address is wrong. The events stay in the queue.
        case refused(reason: String)
        /// The queue's folder cannot be read or written.
        case unusable(reason: String)
    }
}

extension EventClient.Configuration {
    var limits: QueueFolder.Limits {
        QueueFolder.Limits(
            capacityInBytes: capacityInBytes,
            maximumBatchEvents: maximumBatchEvents,
            maximumBatchBytes: maximumBatchBytes
        )
    }

    /// A sentence about the first setting that is out of range; `nil` if all are valid.
    var problem: String? {
        if url.scheme != "http", url.scheme != "https" { return "The URL must begin with http:// or https://." }
        if folder.isEmpty { return "The queue needs a folder." }
        if capacityInBytes < 1 || maximumBatchEvents < 1 || maximumBatchBytes < 1 {
            return "Each limit must be at least 1."
        }
        if maximumBatchBytes > RegularFile.maximumBytes { return "A batch may have at most 64 MiB." }
        if linger < .zero || timeout < .seconds(1) {
            return "The timeout must be at least 1 s, and no time may be negative."
        }
        return nil
    }
}
