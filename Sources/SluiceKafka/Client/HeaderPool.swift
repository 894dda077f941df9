import CLibRDKafka
import EventModel

/// The header lists of messages, created once and reused.
///
/// A list of six headers costs librdkafka 2.0.2 eight allocations, and as many to free them, in the thread that limits the throughput.
/// With a new list for each message, the bench's row `kafka` fell by a third.
///
/// So the pool detaches the list from each message that was reported, and overwrites the two values that differ from message to message
/// (`ce_id` and `ce_time`). The length of a value cannot change, so the pool has a free list for each event and each length of the
/// time's text; the id's length is always the same. librdkafka passes values as `const` pointers; `canOverwriteValues`
/// says why writing through them is safe, and checks it.
///
/// The slots are in plain memory: as arrays of a class they cost a check of exclusive access for every message.
package final class HeaderPool {
    /// The maximum number of lists that are kept; each takes about 700 bytes.
    private static let capacity = 20_000
    private static let idPosition = 1
    private static let timePosition = 4
    private static let headersOfList = 7
    /// Ends a free list.
    private static let noSlot: Int32 = -1

    /// A list that is kept, and the addresses of the two values that are overwritten.
    private struct Slot {
        let list: OpaquePointer
        let id: UnsafeMutableRawPointer
        let time: UnsafeMutableRawPointer
        /// The free list to which it returns.
        let freeList: Int32
        /// The next slot of the free list.
        var next: Int32
    }

    private let source: [UInt8]
    private var types: [[UInt8]] = []
    private var plan: [UInt8]?
    private let slots = UnsafeMutablePointer<Slot>.allocate(capacity: HeaderPool.capacity)
    private var slotCount = 0
    /// The first slot of each free list, whose header lists belong to no message.
    private var freeLists = UnsafeMutableBufferPointer<Int32>(start: nil, count: 0)
    private let reusesLists = HeaderPool.canOverwriteValues()

    init(source: String) {
        self.source = Array(source.utf8)
    }

    /// Destroys the lists that are free; the others belong to librdkafka's messages.
    deinit {
        destroyLists()
        slots.deallocate()
    }

    /// Whether each header list has a copy of its values in memory that nothing else refers to.
    ///
    /// The API does not promise it. In librdkafka 2.0.2 (`src/rdkafka_header.c`) `rd_kafka_header_add` copies the name
    /// and the value into one block of `malloc`ed memory for each header. The list caches the serialized size, which
    /// depends only on the lengths, and the bytes are read when a request is written, before the message is reported. A
    /// version that shared the values between lists, or with the caller, would fail this check; then every message gets
    /// a new list.
    package static func canOverwriteValues() -> Bool {
        guard let first = rd_kafka_headers_new(1), let second = rd_kafka_headers_new(1) else { return false }
        defer {
            rd_kafka_headers_destroy(first)
            rd_kafka_headers_destroy(second)
        }
        let before = [UInt8]("before".utf8)
        let after = [UInt8]("behind".utf8)
        return before.withUnsafeBytes { source in
            for list in [first, second] {
                rd_kafka_header_add(list, "name", -1, source.baseAddress, source.count)
            }
            guard
                let value = Self.value(at: 0, of: first, length: source.count),
                let other = Self.value(at: 0, of: second, length: source.count),
                value != other, UnsafeRawPointer(value) != source.baseAddress
            else { return false }
            after.withUnsafeBytes { $0.copyBytes(to: value) }
            guard let reread = Self.value(at: 0, of: first, length: after.count) else { return false }
            return UnsafeRawBufferPointer(start: reread, count: after.count).elementsEqual(after)
                && UnsafeRawBufferPointer(start: other, count: before.count).elementsEqual(before)
        }
    }

    /// Sets what the headers `ce_type` (the events' names) and `ce_sluiceplan` of the following messages get, and drops all lists.
    ///
    /// Without a digest the messages have no header for it.
    func setTypes(_ types: [String], plan: PlanDigest?) {
        destroyLists()
        self.types = types.map { Array($0.utf8) }
        self.plan = plan.map { Array($0.description.utf8) }
        freeLists = .allocate(capacity: types.count * Self.timeLengths)
        freeLists.initialize(repeating: Self.noSlot)
    }

    private func destroyLists() {
        for first in freeLists {
            var number = first
            while number != Self.noSlot {
                let slot = slots[Int(number)]
                rd_kafka_headers_destroy(slot.list)
                number = slot.next
            }
        }
        freeLists.deallocate()
        freeLists = UnsafeMutableBufferPointer(start: nil, count: 0)
        slotCount = 0
    }

    /// The number of lengths that a time's text can have.
    private static let timeLengths = Timestamp.maximumTextLength + 1

    /// The free list for a record; `nil` if header lists for this record are not kept.
    @inline(__always)
    private func freeList(for record: KafkaRecord) -> Int? {
        let timeLength = record.line.time.count
        // Its list has one header more.
        guard record.traceparent == nil else { return nil }
        guard record.line.id.count == EventID.textLength, timeLength < Self.timeLengths else { return nil }
        return record.definition * Self.timeLengths + timeLength
    }

    /// Returns a list for a record, and its slot, which is negative if the list is not kept.
    ///
    /// The caller passes the list to librdkafka with the message, or returns it with `give(back:slot:)`.
    @inline(__always)
    func take(for record: KafkaRecord) -> (list: OpaquePointer?, slot: Int32) {
        guard let freeList = freeList(for: record), freeList < freeLists.count, freeLists[freeList] != Self.noSlot
        else {
            return add(for: record)
        }
        let number = freeLists[freeList]
        let slot = slots[Int(number)]
        freeLists[freeList] = slot.next
        // The next message most likely needs the next slot, which has dropped out of the cache.
        if slot.next != Self.noSlot { csluice_prefetch(slots + Int(slot.next)) }
        // All header lists of a free list have values of the same lengths.
        record.line.rawText(of: record.line.id).copyBytes(to: slot.id)
        record.line.rawText(of: record.line.time).copyBytes(to: slot.time)
        return (slot.list, number)
    }

    /// Returns a list that belongs to no message to its free list.
    @inline(__always)
    func give(back list: OpaquePointer?, slot number: Int32) {
        guard let list else { return }
        guard number >= 0 else { return rd_kafka_headers_destroy(list) }
        assert(number < slotCount, "a list that was created before the types were set")
        let freeList = Int(slots[Int(number)].freeList)
        slots[Int(number)].next = freeLists[freeList]
        freeLists[freeList] = number
    }

    /// Detaches the list from a reported message and keeps it; librdkafka destroys a list without a slot with its
    /// message.
    @inline(__always)
    func takeBack(from message: UnsafePointer<rd_kafka_message_t>, slot: Int32) {
        guard slot >= 0 else { return }
        var list: OpaquePointer?
        let code = rd_kafka_message_detach_headers(UnsafeMutablePointer(mutating: message), &list)
        if code == RD_KAFKA_RESP_ERR_NO_ERROR { give(back: list, slot: slot) }
    }

    /// Creates a list, and a slot for it if there is room.
    private func add(for record: KafkaRecord) -> (list: OpaquePointer?, slot: Int32) {
        guard let list = make(for: record) else { return (nil, -1) }
        guard
            reusesLists, slotCount < Self.capacity, let freeList = freeList(for: record), freeList < freeLists.count,
            let id = Self.value(at: Self.idPosition, of: list, length: record.line.id.count),
            let time = Self.value(at: Self.timePosition, of: list, length: record.line.time.count)
        else { return (list, -1) }
        let number = slotCount
        slotCount += 1
        let slot = Slot(
            list: list,
            id: id,
            time: time,
            freeList: Int32(truncatingIfNeeded: freeList),
            next: Self.noSlot
        )
        (slots + number).initialize(to: slot)
        return (list, Int32(truncatingIfNeeded: number))
    }

    /// The address of a header's value in librdkafka's memory; `nil` if the value has another length.
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
        plan?.withUnsafeBytes { add(KafkaRecord.planHeader, $0, to: list) }
        if let traceparent = record.traceparent {
            add(TraceParent.key, record.line.rawText(of: traceparent), to: list)
        }
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
