import EventModel
public import EventValidation
import Synchronization

/// The keys with which clients may send events to a server; they can be replaced while it runs.
///
/// Once there were keys, every request needs one, even if the last key is removed.
public final class WriteKeys: Sendable {
    private struct State {
        var catalog: EventCatalog
        var keys: [WriteKey] = []
        var ring: KeyRing?
        var limiters: [String: KeyLimiter] = [:]
    }

    private let state: Mutex<State>
    /// Grows with each replacement.
    private let replacements = Atomic<UInt64>(0)

    /// Makes a set without keys: anyone who reaches the server may send, until there are keys.
    public init(catalog: EventCatalog) {
        state = Mutex(State(catalog: catalog))
    }

    /// Replaces the keys, for all requests from now on.
    ///
    /// What was counted for a key stays with its name.
    ///
    /// - Throws: `IngestError` with the code `misconfigured` if a key is invalid or two have the same name; then nothing changes.
    public func replace(with keys: [WriteKey]) throws(IngestError) {
        try Self.check(keys)
        state.withLock { state in
            var limiters: [String: KeyLimiter] = [:]
            for key in keys {
                let limiter = state.limiters[key.name] ?? KeyLimiter(name: key.name, key.limits)
                limiter.change(to: key.limits)
                limiters[key.name] = limiter
            }
            state.limiters = limiters
            state.keys = keys
            state.ring = KeyRing(keys, limiters: limiters, catalog: state.catalog)
        }
        replacements.add(1, ordering: .releasing)
    }

    /// Replaces the plan, in which the keys name events.
    package func replacePlan(with catalog: EventCatalog) {
        state.withLock { state in
            state.catalog = catalog
            if state.ring != nil { state.ring = KeyRing(state.keys, limiters: state.limiters, catalog: catalog) }
        }
        replacements.add(1, ordering: .releasing)
    }

    /// The plan in which the keys name events.
    var catalog: EventCatalog { state.withLock { $0.catalog } }

    /// Checks keys as `replace(with:)` does.
    public static func check(_ keys: [WriteKey]) throws(IngestError) {
        var names: Set<String> = []
        var owners: [String: String] = [:]
        for key in keys {
            var problem = names.insert(key.name).inserted ? key.problem : "Two keys have the name '\(key.name)'."
            for value in key.values {
                if let owner = owners.updateValue(key.name, forKey: value.digest) {
                    problem = problem ?? "A value of the key '\(key.name)' is also one of '\(owner)'."
                }
            }
            if let problem { throw IngestError(code: .misconfigured, message: problem, underlying: nil) }
        }
    }

    /// The events that keys name and the plan does not have, sorted.
    var unknownEvents: [String] {
        let (keys, catalog) = state.withLock { ($0.keys, $0.catalog) }
        return EventSet.unknownNames(of: keys.flatMap { $0.events ?? [] }, in: catalog)
    }

    /// The keys; `nil` if there never were any.
    var ring: KeyRing? { state.withLock { $0.ring } }

    /// How often the keys or the plan were replaced.
    var version: UInt64 { replacements.load(ordering: .acquiring) }

    /// Whether anyone may send.
    package var isOpen: Bool { ring == nil }

    /// The events that each key with a daily volume sent on its last day.
    package var usage: [String: KeyLimiter.Usage] {
        get { state.withLock { $0.limiters }.filter(\.value.hasDailyVolume).mapValues(\.usage) }
        set {
            let limiters = state.withLock { $0.limiters }
            for (name, usage) in newValue { limiters[name]?.usage = usage }
        }
    }
}
