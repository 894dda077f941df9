import EventModel
import EventPipeline
import GoldenShapes
import Testing

/// The encoder does not trust who calls it: code that was generated from another plan is told, and encodes nothing wrong.
@Suite("Events whose code does not fit the plan")
struct HandwrittenEventTests {
    /// Claims to be `Limits Kept`, and encodes what a test says.
    private struct Claimant: AnalyticsEvent {
        static var catalog: EventCatalog { .events }
        static var definitionIndex: Int { LimitsKept.definitionIndex }
        let body: @Sendable (inout PayloadEncoder) -> Void

        func encode(into payload: inout PayloadEncoder) { body(&payload) }
    }

    private func codes(_ body: @escaping @Sendable (inout PayloadEncoder) -> Void) -> [String] {
        var builder = EventBatchBuilder(catalog: .events)
        do throws(InvalidEvent) {
            try builder.append(Claimant(body: body))
            return []
        } catch {
            return error.violations.map(\.code.rawValue)
        }
    }

    @Test("calls in the plan's order are taken")
    func fitting() {
        #expect(
            codes {
                $0.string("AB")
                $0.string(nil)
                $0.integer(1)
                $0.number(0.5)
                $0.decimal(1)
                $0.array(["x"]) { $0.string($1) }
            }.isEmpty
        )
    }

    @Test("a missing call is a missing property, where the plan requires it")
    func missing() {
        #expect(codes { _ in } == Array(repeating: "missing-required", count: 4))
    }

    @Test("another type, a call too many, and an element without a call are violations")
    func wrong() {
        #expect(codes { $0.integer(1) }.first == "wrong-type")
        #expect(
            codes {
                $0.string("AB")
                $0.string(nil)
                $0.integer(1)
                $0.number(0.5)
                $0.decimal(1)
                $0.array(["x"]) { _, _ in }
                $0.boolean(true)
            } == ["missing-required", "unplanned-property"]
        )
        #expect(codes { $0.enumeration(0) }.first == "not-in-enum")
        #expect(
            codes {
                $0.string("AB")
                $0.string(nil)
                $0.integer(1)
                $0.number(0.5)
                $0.decimal(1)
                $0.array(["x"]) {
                    $0.string($1)
                    $0.string($1)
                }
            } == ["unplanned-property"]
        )
    }
}
