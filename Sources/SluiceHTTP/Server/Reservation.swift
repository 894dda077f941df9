package import NIOCore

/// Memory that counts against a budget until its owner releases it or is destroyed.
package struct Reservation: ~Copyable, Sendable {
    /// `nil` as long as nothing was reserved.
    private var budget: MemoryBudget?
    package private(set) var byteCount = 0

    /// Reserves nothing.
    package init() {}

    deinit {
        budget?.release(byteCount)
    }

    /// Grows to a size, unless it is already larger.
    ///
    /// - Returns: False if the budget has too little left; then nothing changes.
    package mutating func grow(to bytes: Int, of budget: MemoryBudget) -> Bool {
        assert(byteCount == 0 || budget === self.budget)
        guard bytes > byteCount else { return true }
        guard budget.reserve(bytes - byteCount) else { return false }
        self.budget = budget
        byteCount = bytes
        return true
    }

    /// Releases what exceeds a size.
    package mutating func shrink(to bytes: Int) {
        guard byteCount > bytes else { return }
        budget?.release(byteCount - bytes)
        byteCount = bytes
    }

    /// Hands everything over to another owner.
    package mutating func take() -> Reservation {
        var taken = Reservation()
        swap(&taken, &self)
        return taken
    }

    /// Releases everything when the future completes.
    package consuming func release(after future: EventLoopFuture<Void>) {
        guard let budget, byteCount > 0 else { return }
        let bytes = byteCount
        byteCount = 0
        future.whenComplete { _ in budget.release(bytes) }
    }
}
