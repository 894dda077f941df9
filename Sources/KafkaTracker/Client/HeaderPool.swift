import CLibRDKafka
import EventModel

/// The header lists of messages, made once and used again.
///
/// A list of six headers costs librdkafka eight allocations, and as many to free it: as much as all else that it does
/// with a message. So a list is taken back from the message whose report is in, and the two values that differ from
/// message to message are overwritten in it. They must then have the same length, so lists lie on shelves, one for each
/// event and length of time text; the id always has the same. The values lie in memory of the list's own, and nobody
/// but us has the list.
final class HeaderPool {
    /// How many lists are kept at most, about 700 bytes each.
    private static let capacity = 20_000
    private static let idPosition = 1
    private static let timePosition = 4
    private static let headersOfList = 6

    private let source: [UInt8]
    private var types: [[UInt8]] = []
    private var shelves: [[OpaquePointer]] = []
    private var kept = 0

    init(source: String) {
        self.source = Array(source.utf8)
    }

    func close() {
        for list in shelves.joined() { rd_kafka_headers_destroy(list) }
        shelves = []
        kept = 0
    }

    /// Forgets all lists, and makes those to come for other events.
    func setTypes(_ types: [String]) {
        close()
        self.types = types.map { Array($0.utf8) }
    }

    /// The shelf whose lists fit a record; negative where none would.
    @inline(__always)
    static func shelf(for record: KafkaRecord) -> Int32 {
        let lengths = Timestamp.maximumTextLength + 1
        guard record.line.id.count == EventID.textLength, record.line.time.count < lengths else { return -1 }
        return Int32(exactly: record.definition * lengths + record.line.time.count) ?? -1
    }

    /// A list for a record, which goes to librdkafka with the message or comes back by `give`.
    @inline(__always)
    func take(for record: KafkaRecord, from shelf: Int32) -> OpaquePointer? {
        let shelf = Int(shelf)
        guard shelf >= 0, shelf < shelves.count, let list = shelves[shelf].popLast() else { return make(for: record) }
        kept -= 1
        write(record.line.rawText(of: record.line.id), over: Self.idPosition, of: list)
        write(record.line.rawText(of: record.line.time), over: Self.timePosition, of: list)
        return list
    }

    /// Takes a list back that no message has.
    func give(back list: OpaquePointer?, to shelf: Int32) {
        guard let list else { return }
        guard shelf >= 0, kept < Self.capacity else {
            rd_kafka_headers_destroy(list)
            return
        }
        while shelves.count <= Int(shelf) { shelves.append([]) }
        shelves[Int(shelf)].append(list)
        kept += 1
    }

    /// Takes the list back from a message whose report is in.
    @inline(__always)
    func takeBack(from message: UnsafePointer<rd_kafka_message_t>, to shelf: Int32) {
        guard shelf >= 0, kept < Self.capacity else { return }  // then it is destroyed with its message
        var list: OpaquePointer?
        guard
            rd_kafka_message_detach_headers(UnsafeMutablePointer(mutating: message), &list)
                == RD_KAFKA_RESP_ERR_NO_ERROR
        else { return }
        give(back: list, to: shelf)
    }

    /// The bytes are as many as there were, which is what the shelf stands for.
    @inline(__always)
    private func write(_ bytes: UnsafeRawBufferPointer, over position: Int, of list: OpaquePointer) {
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var size = 0
        guard
            rd_kafka_header_get_all(list, position, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR,
            size == bytes.count, let value, let source = bytes.baseAddress
        else { return }
        UnsafeMutableRawPointer(mutating: value).copyMemory(from: source, byteCount: size)
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
