/// What a queue does with events for which it has no room.
public struct FullPolicy: RawRepresentable, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    package enum Kind: String, Sendable, CaseIterable {
        case wait, spill, dropNewest, dropOldest
    }

    package let kind: Kind

    /// The batch waits, whole, until every queue it needs has room; over HTTP the answer after a while is 503.
    public static let wait = FullPolicy(kind: .wait)
    /// The queue accepts no more, and its tracker reads from the journal until it has caught up.
    ///
    /// Nothing waits and nothing is lost. Without a journal this policy is the same as `wait`.
    public static let spill = FullPolicy(kind: .spill)
    /// The queue drops the new events, which are counted and logged; the batch is acknowledged nevertheless.
    public static let dropNewest = FullPolicy(kind: .dropNewest)
    /// The queue drops its oldest events that are not being delivered; they are counted and logged.
    public static let dropOldest = FullPolicy(kind: .dropOldest)

    /// All policies.
    public static let allCases: [FullPolicy] = Kind.allCases.map(FullPolicy.init(kind:))

    private init(kind: Kind) {
        self.kind = kind
    }

    /// The policy with this name, for example `dropOldest`; `nil` if there is none.
    public init?(rawValue: String) {
        guard let kind = Kind(rawValue: rawValue) else { return nil }
        self.init(kind: kind)
    }

    /// The policy's name, for example `dropOldest`.
    public var rawValue: String { kind.rawValue }
    /// The policy's name.
    public var description: String { rawValue }
}
