import Loader
import Testing

@Suite("Turns of partitions")
struct TurnsTests {
    @Test("no partition of a lane is served twice before the others of the lane, however often another lane is served")
    func lanes() {
        var turns = Turns()
        var served: [Int32] = []
        for _ in 0..<6 {
            // The other lane has one partition that always has something to do.
            turns.serve(5)
            let next = turns.sorted([0, 2, 4])[0]
            turns.serve(next)
            served.append(next)
        }
        #expect(served == [0, 2, 4, 0, 2, 4])
    }
}
