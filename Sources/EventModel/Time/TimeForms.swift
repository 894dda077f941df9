/// The forms of a time, beside the `date-time` of RFC 3339, that a format of events accepts.
///
/// Everywhere the offset may also be written without its colon or its minutes (`+0000`, `+03`), as ISO 8601 allows and several SDKs do.
package struct TimeForms: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A space between the date and the time of day.
    package static let space = TimeForms(rawValue: 1)
    /// No zone; the time is one of UTC.
    package static let withoutZone = TimeForms(rawValue: 2)
    /// Only a date, which means its midnight in UTC.
    package static let dateOnly = TimeForms(rawValue: 4)

    // What each format of events accepts. Documentation/Send/HTTP.md has the same table.

    /// Sluice's own format, including all properties of the type `timestamp`, and CloudEvents, whose specification requires RFC 3339.
    package static let own: TimeForms = []
    /// Segment's clients: Segment's servers read ISO 8601 as its library `isodate` does, and RudderStack's what `dateparse` does.
    package static let segment: TimeForms = [.space, .withoutZone, .dateOnly]
    /// PostHog's clients: its servers read what JavaScript's `Date` reads, in UTC.
    package static let postHog: TimeForms = [.space, .withoutZone, .dateOnly]
}
