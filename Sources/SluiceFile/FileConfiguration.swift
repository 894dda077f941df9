import EventModel

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Which files the events are written to, and when a file is complete.
public struct FileConfiguration: Sendable {
    /// The tracker's default name.
    public static let defaultName = "file"

    /// The time that the placeholders of a path stand for.
    public enum PathTime: String, Sendable, CaseIterable {
        /// When the event arrived.
        case arrival
        /// When the event happened, which its sender says: each hour that senders name may become a file.
        case event
    }

    /// The name that refers to the tracker in the plan.
    ///
    /// Default: `file`.
    public var name: String
    /// The path of the files, with the placeholders `{event}`, `{yyyy}`, `{MM}`, `{dd}`, `{HH}` and `{node}`; with `.gz` at its end, they
    /// are compressed.
    ///
    /// The folders above the first placeholder must exist, except the lowest of them.
    public var path: String
    /// The time that the placeholders stand for, in UTC.
    ///
    /// Default: `arrival`.
    public var pathTime: PathTime
    /// The name of this machine, for `{node}`; `nil` for the host's name.
    ///
    /// After a crash, only a process with the same name completes the files that are left.
    public var node: String?
    /// The size from which on a file is complete; the last delivery to it may make it larger.
    ///
    /// Default: 128 MiB.
    public var maximumFileBytes: Int
    /// How long after it was begun a file is complete.
    ///
    /// Default: one hour.
    public var maximumAge: Duration

    /// Creates a configuration with the defaults of everything else.
    public init(path: String, name: String = Self.defaultName) {
        self.name = name
        self.path = path
        pathTime = .arrival
        node = nil
        maximumFileBytes = 128 << 20
        maximumAge = .seconds(3600)
    }

    /// The host's name.
    static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
