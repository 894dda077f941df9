import EventModel

/// What goes wrong repeatedly with one tracker, so that its log lines are summed up.
struct TrackerEpisodes: Sendable {
    /// Its `start` fails.
    var start = FailureEpisode()
    /// Its deliveries fail, until everything in one is settled.
    var delivery = FailureEpisode()
    /// The journal cannot be read for it.
    var reading = FailureEpisode()
    /// Its cursor cannot be written.
    var cursor = FailureEpisode()
    /// It refuses events.
    var refusal = FailureEpisode()
    /// Its events are parked.
    var parking = FailureEpisode()
    /// A new plan does not send it events that it was to get.
    var exclusion = FailureEpisode()
    /// Its queue drops events.
    var drop = FailureEpisode()
    /// Retention removes events that it has not received.
    var loss = FailureEpisode()
    /// It names positions that its delivery does not have.
    var invalidPositions = FailureEpisode()
}
