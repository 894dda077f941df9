import TrackerKit

/// The thread that starts the program of a tracker and exchanges events with it, by one of the protocols.
protocol ProgramSession: Actor {
    /// Until when the program wants no delivery, as a time of the tracker's clock.
    var pauseEnd: Duration { get }

    /// Prepares for deliveries.
    func start() throws(TrackerError)

    /// Delivers events with the program.
    func deliver(_ delivery: Delivery, _ interrupt: Interrupt) -> DeliveryOutcome

    /// Checks with the program whether it can deliver the events of these names.
    ///
    /// - Throws: What keeps it from doing so, with what it said about that.
    func check(_ events: [String], _ interrupt: Interrupt) throws(TrackerError)

    /// Ends the program, if it runs.
    func stop()
}
