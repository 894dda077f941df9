import Synchronization

/// A tracker's session, made when it is first needed.
///
/// Making one may fail, because the system may not be able to create its thread. `start` makes it rather than the tracker's
/// initializer, because `start` can throw and is called again.
package final class SessionOnDemand<Session: Sendable>: Sendable {
    private let make: @Sendable () throws(TrackerError) -> Session
    private let made = Mutex<Session?>(nil)

    /// Takes the function that makes a session.
    package init(_ make: @escaping @Sendable () throws(TrackerError) -> Session) {
        self.make = make
    }

    /// The session; `nil` if none was made.
    package var ifMade: Session? { made.withLock { $0 } }

    /// The session, which is made now if there is none.
    package func get() throws(TrackerError) -> Session {
        try made.withLock { made throws(TrackerError) in
            if let made { return made }
            let session = try make()
            made = session
            return session
        }
    }
}

/// A flag that cancels a blocking call from another thread; the call polls it between its waits.
package final class Interrupt: Sendable {
    private let raised = Atomic<Bool>(false)

    /// Makes a flag that is not raised.
    package init() {}

    /// Whether the call was cancelled.
    package var isRaised: Bool { raised.load(ordering: .relaxed) }

    /// Cancels the call.
    package func raise() {
        raised.store(true, ordering: .relaxed)
    }
}
