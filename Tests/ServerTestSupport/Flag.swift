import Synchronization

/// An event that has or has not happened yet.
package final class Flag: Sendable {
    private let happened = Mutex(false)

    package init() {}

    package var isSet: Bool { happened.withLock { $0 } }

    package func set() {
        happened.withLock { $0 = true }
    }
}
