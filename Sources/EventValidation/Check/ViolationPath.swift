@_spi(CanonicalJSON) import EventModel

/// The place of the check in an event; it becomes text only for a violation.
struct ViolationPath: ~Copyable {
    /// One step: a key in the envelope, the plan or the tape, or the index of an element if there is no key.
    struct Step: BitwiseCopyable {
        private let start: UnsafeRawPointer?
        private let number: Int

        @inline(__always)
        static func key(_ key: UnsafeRawBufferPointer) -> Step { Step(start: key.baseAddress, number: key.count) }

        @inline(__always)
        static func index(_ index: Int) -> Step { Step(start: nil, number: index) }

        fileprivate var text: String {
            guard let start else { return "[\(number)]" }
            let key = UnsafeRawBufferPointer(start: start, count: min(number, 64))
            return JSONPath.step(toKey: String(decoding: key, as: UTF8.self))
        }
    }

    /// Room for the envelope's field, a step for each level, and the key of a violation.
    private let steps = UnsafeMutablePointer<Step>.allocate(capacity: EventLimits.maximumDepth + 8)
    private var count = 0

    deinit {
        steps.deallocate()
    }

    @inline(__always)
    mutating func push(_ step: Step) {
        precondition(count < EventLimits.maximumDepth + 8, "the depth is checked before a step is pushed")
        steps[count] = step
        count += 1
    }

    @inline(__always)
    mutating func pop() { count &-= 1 }

    /// Moves from one member of an object to another.
    @inline(__always)
    mutating func replaceLast(_ step: Step) { steps[count &- 1] = step }

    mutating func reset() { count = 0 }

    /// A JSONPath (RFC 9535) from the envelope.
    ///
    /// Keys are cut after 64 bytes, because senders can choose them.
    var text: String {
        (0..<count).reduce(into: "$") { $0 += steps[$1].text }
    }
}
