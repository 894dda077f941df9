/// How important a line of the log is.
public enum TrackingLogLevel: Sendable {
    /// What only somebody who looks for a fault in this library wants to read.
    case verbose
    /// What the engine behind this library does.
    case debug
    /// What happened as it should.
    case info
    /// What went wrong.
    case error
}
