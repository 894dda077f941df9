package import EventModel
package import Logging

extension FailureEpisode.Summary {
    /// The facts of a log line about failures: how many there were, and for how long.
    package var metadata: Logger.Metadata { ["failures": "\(count)", "seconds": "\(duration.loggedSeconds)"] }
}
