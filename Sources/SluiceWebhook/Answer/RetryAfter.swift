package import EventModel

/// The header field `Retry-After` (RFC 9110, section 10.2.3): a number of seconds, or a date.
package enum RetryAfter {
    /// The longest pause that a receiver can ask for.
    static let maximumPause = Duration.seconds(300)

    /// The pause that it asks for, at most `maximumPause`; `nil` if the field is absent or malformed.
    package static func pause(_ text: String?, now: Timestamp) -> Duration? {
        guard let text else { return nil }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), !text.isEmpty {
            return Int(text).map { min(.seconds(min($0, 1000)), maximumPause) } ?? maximumPause
        }
        guard let end = date(text) else { return nil }
        return min(max(.microseconds(end.microseconds - now.microseconds), .zero), maximumPause)
    }

    /// A date in the only form that senders may use: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func date(_ text: String) -> Timestamp? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: words[2]) else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp("\(words[3])-\(number)-\(words[1])T\(words[4])Z")
    }

    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
