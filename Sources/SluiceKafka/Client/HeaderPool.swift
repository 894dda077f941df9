import CLibRDKafka
import EventModel

/// The header lists of messages, made once and used again.
///
/// A list of six headers costs librdkafka eight allocations, and as many to free it: as much as all else that it does
/// with a message. So a list is taken back from the message whose report is in, and the two values that differ from
/// message to message are overwritten in it. They must then have the same length, so lists lie on shelves, one for each
/// event and length of time text; the id always has the same. The values lie in memory of the list's own, and nobody
/// but us has the list.
///
/// The slots stand in plain memory: as arrays of a class they cost a check of exclusive access at every message.
final class HeaderPool {
    /// How many lists are kept at most, about 700 bytes each.
    private static let capacity = 20_000
    private static let idPosition = 1
    private static let timePosition = 4
    private static let headersOfList = 6
    /// Ends a shelf.
    private static let noSlot: Int32 = -1

    /// A list that is kept, and where in it the two values stand that are overwritten.
    private struct Slot {
        let list: OpaquePointer
        let id: UnsafeMutableRawPointer
        let time: UnsafeMutableRawPointer
        let shelf: Int32
        /// The slot that lies under it on its shelf.
        var below: Int32
    }

    private let source: [UInt8]
    private var types: [[UInt8]] = []
    private let slots = UnsafeMutablePointer<Slot>.allocate(capacity: HeaderPool.capacity)
    private var slotCount = 0
    /// The slot on top of each shelf; those on a shelf have lists that no message has.
    private var shelves = UnsafeMutableBufferPointer<Int32>(start: nil, count: 0)

    init(source: String) {
        self.source = Array(source.utf8)
    }

    /// Gives everything back, and is of no use after it; lists that messages have are theirs.
    func close() {
        forgetLists()
        slots.deallocate()
    }

    /// Forgets all lists, and makes those to come for other events.
    func setTypes(_ types: [String]) {
        forgetLists()
        self.types = types.map { Array($0.utf8) }
        shelves = .allocate(capacity: types.count * Self.timeLengths)
        shelves.initialize(repeating: Self.noSlot)
    }

    private func forgetLists() {
        for top in shelves {
            var number = top
            while number != Self.noSlot {
                let slot = slots[Int(number)]
                rd_kafka_headers_destroy(slot.list)
                number = slot.below
            }
        }
        shelves.deallocate()
        shelves = UnsafeMutableBufferPointer(start: nil, count: 0)
        slotCount = 0
    }

    /// How many lengths a time's text can have.
    private static let timeLengths = Timestamp.maximumTextLength + 1

    /// The shelf whose lists fit a record; `nil` where none would.
    @inline(__always)
    private func shelf(for record: KafkaRecord) -> Int? {
        let timeLength = record.line.time.count
        guard record.line.id.count == EventID.textLength, timeLength < Self.timeLengths else { return nil }
        return record.definition * Self.timeLengths + timeLength
    }

    /// A list for a record, which goes to librdkafka with the message or comes back by `give`; and its slot, negative
    /// where it is not kept.
    @inline(__always)
    func take(for record: KafkaRecord) -> (list: OpaquePointer?, slot: Int32) {
        guard let shelf = shelf(for: record), shelf < shelves.count, shelves[shelf] != Self.noSlot else {
            return add(for: record)
        }
        let number = shelves[shelf]
        let slot = slots[Int(number)]
        shelves[shelf] = slot.below
        // The next message will most likely want the slot below, which has been out of the cache for a while.
        if slot.below != Self.noSlot { csluice_prefetch(slots + Int(slot.below)) }
        // The bytes are as many as there were, which is what the shelf stands for.
        record.line.rawText(of: record.line.id).copyBytes(to: slot.id)
        record.line.rawText(of: record.line.time).copyBytes(to: slot.time)
        return (slot.list, number)
    }

    /// Takes a list back that no message has.
    @inline(__always)
    func give(back list: OpaquePointer?, slot number: Int32) {
        guard let list else { return }
        guard number >= 0 else { return rd_kafka_headers_destroy(list) }
        assert(number < slotCount, "a list from before the types were set")
        let shelf = Int(slots[Int(number)].shelf)
        slots[Int(number)].below = shelves[shelf]
        shelves[shelf] = number
    }

    /// Takes the list back from a message whose report is in; one that is not kept is destroyed with its message.
    @inline(__always)
    func takeBack(from message: UnsafePointer<rd_kafka_message_t>, slot: Int32) {
        guard slot >= 0 else { return }
        var list: OpaquePointer?
        let code = rd_kafka_message_detach_headers(UnsafeMutablePointer(mutating: message), &list)
        if code == RD_KAFKA_RESP_ERR_NO_ERROR { give(back: list, slot: slot) }
    }

    /// Makes a list, and a slot for it where there is room.
    private func add(for record: KafkaRecord) -> (list: OpaquePointer?, slot: Int32) {
        guard let list = make(for: record) else { return (nil, -1) }
        guard
            slotCount < Self.capacity, let shelf = shelf(for: record), shelf < shelves.count,
            let id = Self.value(at: Self.idPosition, of: list, length: record.line.id.count),
            let time = Self.value(at: Self.timePosition, of: list, length: record.line.time.count)
        else { return (list, -1) }
        let number = slotCount
        slotCount += 1
        let slot = Slot(list: list, id: id, time: time, shelf: Int32(truncatingIfNeeded: shelf), below: Self.noSlot)
        (slots + number).initialize(to: slot)
        return (list, Int32(truncatingIfNeeded: number))
    }

    /// Where librdkafka keeps a header's value, if it has this length.
    private static func value(at position: Int, of list: OpaquePointer, length: Int) -> UnsafeMutableRawPointer? {
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var size = 0
        let code = rd_kafka_header_get_all(list, position, &name, &value, &size)
        return code == RD_KAFKA_RESP_ERR_NO_ERROR && size == length ? value.map { .init(mutating: $0) } : nil
    }

    private func make(for record: KafkaRecord) -> OpaquePointer? {
        guard let list = rd_kafka_headers_new(Self.headersOfList) else { return nil }
        add("ce_specversion", "1.0", to: list)
        record.line.withText(of: record.line.id) { add("ce_id", $0, to: list) }
        source.withUnsafeBytes { add("ce_source", $0, to: list) }
        types[record.definition].withUnsafeBytes { add("ce_type", $0, to: list) }
        record.line.withText(of: record.line.time) { add("ce_time", $0, to: list) }
        add("content-type", "application/json", to: list)
        return list
    }

    private func add(_ name: String, _ value: UnsafeRawBufferPointer, to list: OpaquePointer) {
        rd_kafka_header_add(list, name, -1, value.baseAddress, value.count)
    }

    private func add(_ name: String, _ value: StaticString, to list: OpaquePointer) {
        rd_kafka_header_add(list, name, -1, value.utf8Start, value.utf8CodeUnitCount)
    }
}

extension UnsafeRawBufferPointer {
    @inline(__always)
    fileprivate func copyBytes(to target: UnsafeMutableRawPointer) {
        if let baseAddress { target.copyMemory(from: baseAddress, byteCount: count) }
    }
}
