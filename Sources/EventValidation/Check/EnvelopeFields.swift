/// The positions of the envelope's fields on the tape, or in the structure of the line; 0 if a field is absent.
///
/// The ordinal of a field is its position in `CompiledPlan.fieldNames`.
struct EnvelopeFields: ~Copyable {
    static let receivedAtOrdinal = 3
    static let contextOrdinal = 7
    static let payloadOrdinal = 8
    static let serverTimeOrdinal = 9

    private let places = UnsafeMutablePointer<Int>.allocate(capacity: CompiledPlan.fieldCount)
    /// The ordinals of the fields in the order of the last event, because senders mostly keep to an order.
    private let order = UnsafeMutablePointer<Int>.allocate(capacity: CompiledPlan.fieldCount)

    init() {
        order.initialize(repeating: 0, count: CompiledPlan.fieldCount)
        places.initialize(repeating: 0, count: CompiledPlan.fieldCount)
    }

    deinit {
        places.deallocate()
        order.deallocate()
    }

    var id: Int { places[0] }
    var name: Int { places[1] }
    var time: Int { places[2] }
    var receivedAt: Int { places[Self.receivedAtOrdinal] }
    var userID: Int { places[4] }
    var anonymousID: Int { places[5] }
    var sessionID: Int { places[6] }
    var context: Int { places[Self.contextOrdinal] }
    var payload: Int { places[Self.payloadOrdinal] }
    var serverTime: Int { places[Self.serverTimeOrdinal] }

    func reset() {
        places.update(repeating: 0, count: CompiledPlan.fieldCount)
    }

    /// The ordinal of the last event's field at this position, which is probably the next one's, too.
    @inline(__always)
    func guess(at position: Int) -> Int {
        position < CompiledPlan.fieldCount ? order[position] : 0
    }

    /// Records which field is at a position.
    @inline(__always)
    func learn(_ ordinal: Int, at position: Int) {
        if position < CompiledPlan.fieldCount { order[position] = ordinal }
    }

    /// Records the position of a field on the tape; false if the field is repeated.
    @inline(__always)
    func set(_ ordinal: Int, _ index: Int) -> Bool {
        guard places[ordinal] == 0 else { return false }
        places[ordinal] = index
        return true
    }
}
