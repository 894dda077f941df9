import Synchronization

/// Tells a call that blocks a thread from another thread that it is no longer wanted; it looks between its waits.
package final class Interrupt: Sendable {
    private let raised = Atomic<Bool>(false)

    /// One that is not raised.
    package init() {}

    /// Whether the call is no longer wanted.
    package var isRaised: Bool { raised.load(ordering: .relaxed) }

    /// Says that it is not.
    package func raise() {
        raised.store(true, ordering: .relaxed)
    }
}
