import EventModel

/// A setting that somebody has changed for a time, in the running process.
package struct SettingChange: Sendable, Codable, Hashable {
    /// The setting's name, such as `queue.capacityInEvents`.
    package let key: String
    /// Its value, as it was stated.
    package let value: String
    /// When the change ends, in RFC 3339.
    package let until: String
    /// Who asked for it, if that was stated.
    package let user: String?
    /// Through what it was asked for: the private port or the socket.
    package let through: String

    /// Whether the change has ended; one whose end cannot be read has.
    func hasEnded(at now: Timestamp) -> Bool { Timestamp(until).map { $0.microseconds <= now.microseconds } ?? true }
}

/// How long a change of a setting lasts: a number and a unit.
package struct SettingDuration: Sendable, Hashable {
    private static let units: [(name: Character, seconds: Int)] = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)]
    private static let maximumSeconds = 30 * 86_400

    /// What is expected, for the sentence about another text.
    package static let expectation = "a number with a unit, such as 90s, 30m, 2h or 7d, and at most 30d"

    package let seconds: Int

    /// Parses `90s`, `30m`, `2h` or `7d`; `nil` for anything else, for nothing, and for more than 30 days.
    package init?(_ text: String) {
        guard let unit = Self.units.first(where: { $0.name == text.last }), !text.hasPrefix("+"),
            let number = Int(text.dropLast()), (1...Self.maximumSeconds / unit.seconds).contains(number)
        else { return nil }
        seconds = number * unit.seconds
    }
}
