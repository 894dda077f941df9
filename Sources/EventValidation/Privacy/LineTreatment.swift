@_spi(CanonicalJSON) import EventModel
import JSONTape

/// Removes and hashes what the plan protects in the canonical lines of typed events.
struct LineTreatment: ~Copyable {
    private var parser = JSONParser()
    private var input = PaddedInput()
    private var check: EventCheck

    init(plan: CompiledPlan) {
        check = EventCheck(plan: plan, acceptsReceivedAt: true)
        check.maximumIdentifierBytes = .max
    }

    /// Replaces the line that begins at `start`, with its newline the last one in `output`.
    ///
    /// - Returns: What prevents that; the line must be discarded then.
    mutating func treat(from start: Int, in output: inout ByteBuilder) -> [Violation] {
        let line = input.fill(UnsafeRawBufferPointer(rebasing: output.bytes[start..<output.count - 1]))
        do throws(JSONError) {
            check.begin(try parser.parse(line))
        } catch {
            return [
                Violation(
                    code: .malformedJSON,
                    path: "$",
                    expected: "an event that can be read again",
                    found: "another"
                )
            ]
        }
        output.count = start
        // The line has an id.
        _ = check.check(at: check.tape.root, into: &output) { _ in EventID(high: 0, low: 0) }
        return check.violations
    }
}
