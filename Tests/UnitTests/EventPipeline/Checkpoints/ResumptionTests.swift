import EventPipeline
import Testing

@Suite("Where a tracker that stores its own checkpoint starts")
struct ResumptionTests {
    struct Case: Sendable {
        let answer: UInt64?
        let cursor: UInt64
        let known: UInt64?
        let expected: UInt64
        let finding: Resumption.Finding
        var missing: Range<UInt64>?
    }

    /// The journal goes from 100 to 200.
    private static let cases = [
        // What is known: the cursor stands, also where it is ahead.
        Case(answer: 150, cursor: 150, known: 150, expected: 150, finding: .agrees),
        Case(answer: 150, cursor: 180, known: 150, expected: 180, finding: .agrees),
        Case(answer: nil, cursor: 120, known: nil, expected: 120, finding: .agrees),
        Case(answer: 50, cursor: 180, known: 50, expected: 180, finding: .agrees),
        // It got further than anybody noted.
        Case(answer: 160, cursor: 150, known: 140, expected: 160, finding: .ahead),
        Case(answer: 200, cursor: 100, known: nil, expected: 200, finding: .ahead),
        // It lost what it had.
        Case(answer: 140, cursor: 180, known: 150, expected: 140, finding: .behind),
        Case(answer: 160, cursor: 180, known: 150, expected: 160, finding: .behind),
        Case(answer: 40, cursor: 180, known: 150, expected: 100, finding: .behind, missing: 40..<100),
        Case(answer: nil, cursor: 180, known: 150, expected: 100, finding: .behind),
        // The cursor was lost, and made anew at the journal's end.
        Case(answer: 150, cursor: 200, known: nil, expected: 150, finding: .behind),
        // The journal is an older copy.
        Case(answer: 201, cursor: 180, known: 150, expected: 180, finding: .beyondJournal),
    ]

    @Test(
        "its stored checkpoint wins, unless the cursor already knows it or it is beyond the journal",
        arguments: cases
    )
    func decision(test: Case) {
        let resumption = Resumption(from: test.answer, cursor: test.cursor, known: test.known, journal: 100...200)
        #expect(resumption.sequence == test.expected)
        #expect(resumption.finding == test.finding)
        #expect(resumption.missing == test.missing)
        #expect(resumption.checkpoint == test.answer)
    }
}
