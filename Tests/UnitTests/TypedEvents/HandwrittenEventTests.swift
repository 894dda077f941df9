import EventModel
import EventValidation
import GoldenShapes
import Testing

/// The encoder does not trust its caller: code generated from another plan gets violations, and no invalid event is encoded.
@Suite("Events whose code does not fit the plan")
struct HandwrittenEventTests {
    /// Pretends to be `Limits Kept`, and encodes what the test states.
    private struct Claimant: AnalyticsEvent {
        static var catalog: EventCatalog { ShapesEvents.catalog }
        static var definitionIndex: Int { ShapesEvents.LimitsKept.definitionIndex }
        let body: @Sendable (inout PayloadEncoder) -> Void

        func encode(into payload: inout PayloadEncoder) { body(&payload) }
    }

    private func codes(_ body: @escaping @Sendable (inout PayloadEncoder) -> Void) -> [String] {
        var builder = EventBatchBuilder(catalog: ShapesEvents.catalog)
        do throws(InvalidEvent) {
            try builder.append(Claimant(body: body))
            return []
        } catch {
            return error.violations.map(\.code.rawValue)
        }
    }

    @Test("calls in the plan's order are accepted")
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

    @Test("a missing call is a missing property, if the plan requires it")
    func missing() {
        #expect(codes { _ in } == Array(repeating: "missing-required", count: 4))
    }

    @Test("an index that the catalog does not have is an unknown event")
    func place() {
        struct Stray: AnalyticsEvent {
            static var catalog: EventCatalog { ShapesEvents.catalog }
            static var definitionIndex: Int { 5000 }
            func encode(into payload: inout PayloadEncoder) {}
        }
        for catalog in [ShapesEvents.catalog, EventCatalog(plan: ShapesEvents.catalog.plan)] {
            var builder = EventBatchBuilder(catalog: catalog)
            var codes: [VerdictCode] = []
            do throws(InvalidEvent) { try builder.append(Stray()) } catch { codes = error.violations.map(\.code) }
            #expect(codes == [.unknownEvent])
        }
    }

    @Test("additional properties are accepted once, at the end, and not in an element")
    func additional() {
        struct Open: AnalyticsEvent {
            static var catalog: EventCatalog { ShapesEvents.catalog }
            static var definitionIndex: Int { ShapesEvents.AnythingGoes.definitionIndex }
            let body: @Sendable (inout PayloadEncoder) -> Void
            func encode(into payload: inout PayloadEncoder) { body(&payload) }
        }
        func codes(_ body: @escaping @Sendable (inout PayloadEncoder) -> Void) -> [VerdictCode] {
            var builder = EventBatchBuilder(catalog: ShapesEvents.catalog)
            do throws(InvalidEvent) { try builder.append(Open(body: body)) } catch {
                return error.violations.map(\.code)
            }
            return []
        }
        #expect(codes { $0.additionalProperties(["a": 1]) }.isEmpty)
        #expect(
            codes {
                $0.additionalProperties(["a": 1])
                $0.additionalProperties(["a": 2])
            } == [.unplannedProperty]
        )
        #expect(
            codes {
                $0.additionalProperties([:])
                $0.string("late")
            } == [.unplannedProperty]
        )
        #expect(
            self.codes {
                $0.string("AB")
                $0.string(nil)
                $0.integer(1)
                $0.number(0.5)
                $0.decimal(1)
                $0.array(["x"]) { payload, _ in payload.additionalProperties(["a": 1]) }
            } == ["unplanned-property", "missing-required"]
        )
    }

    @Test("a wrong type, an additional call, and an element without a call are violations")
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
