import EventModel
import EventValidation
import SluiceReplay
import TestCases
import Testing

@Suite("Lines that wait to be validated")
struct PendingLinesTests {
    private func fill(_ text: String, maximumLines: Int, arrival: Timestamp? = nil) -> PendingLines {
        var pending = PendingLines(EventValidator(catalog: ReplayFolder.catalog()), maximumLines: maximumLines)
        pending.fill(Array(text.utf8), arrival: arrival)
        return pending
    }

    @Test(
        "are validated in parts of a maximum number of lines, the last of which may have no end",
        arguments: [(1, [1, 1, 1, 1, 1]), (2, [2, 2, 1]), (5, [5]), (6, [5]), (.max, [5])] as [(Int, [Int])]
    )
    func parts(maximumLines: Int, counts: [Int]) throws {
        for end in ["", "\n"] {
            let text = (1...5).map { ReplayFolder.sold($0) }.joined(separator: "\n") + end
            var pending = fill(text, maximumLines: maximumLines)
            var found: [Int] = []
            while !pending.isEmpty { found.append(try pending.check().count) }
            #expect(found == counts)
        }
    }

    @Test("have the time of their arrival if they state none")
    func arrival() throws {
        var pending = fill(ReplayFolder.sold(1) + "\n", maximumLines: 1, arrival: ReplayFolder.arrival)
        #expect(try pending.check().batch?.entries.first?.time == ReplayFolder.arrival)
        pending.fill(Array(ReplayFolder.sold(1).utf8))
        let now = Timestamp.now()
        #expect(try #require(try pending.check().batch?.entries.first).time >= now)
    }
}
