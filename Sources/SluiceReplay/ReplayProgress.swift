/// Shows how far a replay has come.
///
/// The replay calls it after each part of a source, so it limits by itself how often it shows anything.
package protocol ReplayProgress: Sendable {
    /// Shows how many events and bytes were read so far.
    mutating func show(events: Int, bytes: Int)

    /// Removes what it shows, after the last part.
    mutating func clear()
}
