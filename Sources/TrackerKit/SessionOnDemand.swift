import Synchronization

/// A tracker's session, made when it is first needed.
///
/// Its thread may be refused by the system; so `start` makes it, which can say so and is called again, and not the
/// tracker's initialiser.
package final class SessionOnDemand<Session: Sendable>: Sendable {
    private let make: @Sendable () throws(TrackerError) -> Session
    private let made = Mutex<Session?>(nil)

    /// Takes the way to make one.
    package init(_ make: @escaping @Sendable () throws(TrackerError) -> Session) {
        self.make = make
    }

    /// The session; `nil` while there is none, and so nothing to give back either.
    package var ifMade: Session? { made.withLock { $0 } }

    /// The session, made now where there is none.
    package func get() throws(TrackerError) -> Session {
        try made.withLock { made throws(TrackerError) in
            if let made { return made }
            let session = try make()
            made = session
            return session
        }
    }
}
