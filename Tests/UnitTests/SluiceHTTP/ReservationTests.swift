import SluiceHTTP
import Testing

@Suite("Reserved memory")
struct ReservationTests {
    private let budget = MemoryBudget(limit: 100)

    /// A reservation; `nil` if it fails.
    private func reserve(_ bytes: Int, of budget: MemoryBudget) -> Reservation? {
        var memory = Reservation()
        guard memory.grow(to: bytes, of: budget) else { return nil }
        return memory
    }

    @Test("it counts until it shrinks, and what is left until its owner ends")
    func owner() {
        do {
            var memory = reserve(60, of: budget)
            let isLarger = memory?.grow(to: 40, of: budget)
            #expect(isLarger == true && budget.reservedBytes == 60)
            memory?.shrink(to: 50)
            memory?.shrink(to: 70)
            #expect(budget.reservedBytes == 50)
        }
        #expect(budget.reservedBytes == 0)
    }

    @Test("without enough memory nothing changes")
    func limit() {
        var memory = reserve(60, of: budget)
        let hasOther = reserve(41, of: budget) != nil
        let hasGrown = memory?.grow(to: 101, of: budget)
        #expect(!hasOther && hasGrown == false && budget.reservedBytes == 60)
        let grows = memory?.grow(to: 100, of: budget)
        #expect(grows == true && budget.reservedBytes == 100)
    }

    @Test("a part of a budget counts for both")
    func part() {
        let part = MemoryBudget(limit: 50, within: budget)
        var memory = reserve(50, of: part)
        let hasGrown = memory?.grow(to: 51, of: part)
        #expect(hasGrown == false && budget.reservedBytes == 50 && part.reservedBytes == 50)
        memory?.shrink(to: 0)
        #expect(budget.reservedBytes == 0 && part.reservedBytes == 0)
    }

    @Test("another owner takes everything over")
    func handover() {
        var memory = Reservation()
        let isReserved = memory.grow(to: 60, of: budget)
        do {
            let taken = memory.take()
            let sizes = [taken.byteCount, memory.byteCount]
            #expect(isReserved && sizes == [60, 0] && budget.reservedBytes == 60)
        }
        #expect(budget.reservedBytes == 0)
    }
}
