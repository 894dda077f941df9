import Foundation

/// The undelivered events that the original JustTrack stored in the app's defaults.
///
/// They are one archived dictionary, with keys of the form `EVENT_ON_TRACKER_TIME`.
struct JustTrackDefaults {
    /// An event that one tracker did not get.
    struct StoredEvent {
        let key: String
        let name: String
        let payload: Payload
        let tracker: String
        let time: Double

        /// Reads one entry; `nil` if it is not JustTrack's.
        init?(key: String, value: Any) {
            guard let parts = value as? [String: Any], let name = parts[EventEncodingKey.name.rawValue] as? String,
                let payload = parts[EventEncodingKey.payload.rawValue] as? Payload,
                key.hasPrefix(name + Self.separator), let end = key.lastIndex(of: "_"),
                let time = Double(key[end...].dropFirst())
            else { return nil }
            self.key = key
            self.name = name
            self.payload = payload
            self.time = time
            tracker = String(key[..<end].dropFirst(name.count + Self.separator.count))
        }

        private static let separator = "_ON_"
    }

    static let key = "com.justeat.TrackOperations"
    /// The classes that a payload and its archive consist of.
    private static let classes: [AnyClass] = [
        NSDictionary.self, NSArray.self, NSString.self, NSNumber.self, NSDecimalNumber.self, NSNull.self, NSDate.self,
        NSData.self, NSURL.self, NSUUID.self,
    ]

    let defaults: UserDefaults

    /// The stored events, oldest first.
    ///
    /// - Throws: If they cannot be read.
    func events() throws -> [StoredEvent] {
        try entries().compactMap { StoredEvent(key: $0.key, value: $0.value) }.sorted { $0.time < $1.time }
    }

    /// Removes some of them.
    func remove(_ events: [StoredEvent]) throws {
        let keys = Set(events.map(\.key))
        let rest = try entries().filter { !keys.contains($0.key) }
        guard !rest.isEmpty else { return removeAll() }
        let data = try NSKeyedArchiver.archivedData(withRootObject: rest, requiringSecureCoding: false)
        defaults.set(data, forKey: Self.key)
    }

    /// Removes all of them.
    func removeAll() {
        defaults.removeObject(forKey: Self.key)
    }

    private func entries() throws -> [String: Any] {
        guard let data = defaults.data(forKey: Self.key) else { return [:] }
        return try NSKeyedUnarchiver.unarchivedObject(ofClasses: Self.classes, from: data) as? [String: Any] ?? [:]
    }
}
