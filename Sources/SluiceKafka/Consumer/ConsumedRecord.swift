import CLibRDKafka
package import TrackerKit

/// A record of a topic, in librdkafka's memory or as a copy.
///
/// All records that are not copies must be released before their consumer is closed.
// Safe to share: librdkafka counts the references to its buffers atomically, and nothing changes a message except the first look at
// its headers, which are parsed then. One task at a time has a record.
package final class ConsumedRecord: @unchecked Sendable {
    private enum Storage {
        case message(UnsafeMutablePointer<rd_kafka_message_t>)
        case copy(key: [UInt8]?, headers: [SourceRecord.Header], timestamp: Int64)
    }

    /// The approximate memory of a record besides its key and value: headers and librdkafka's structures.
    private static let overhead = 512

    private let storage: Storage
    package let offset: Int64
    /// The value, as long as the record lives; `nil` for a tombstone.
    package let value: UnsafeRawBufferPointer?
    /// Its size in memory, approximately.
    package let byteCount: Int

    /// Takes ownership of a message without an error.
    init(adopting message: UnsafeMutablePointer<rd_kafka_message_t>) {
        storage = .message(message)
        offset = message.pointee.offset
        value = message.pointee.payload.map { UnsafeRawBufferPointer(start: $0, count: message.pointee.len) }
        // Reading the headers would take longer than everything else.
        byteCount = message.pointee.len + message.pointee.key_len + Self.overhead
    }

    /// Makes a record in memory of its own; `timestamp` is in milliseconds since 1970.
    package init(_ record: SourceRecord, timestamp: Int64) {
        storage = .copy(key: record.key, headers: record.headers, timestamp: timestamp)
        offset = record.offset
        value = record.value.map { bytes in
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            memory.copyBytes(from: bytes)
            return UnsafeRawBufferPointer(memory)
        }
        let headerBytes = record.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.count }
        byteCount = (record.value?.count ?? 0) + (record.key?.count ?? 0) + headerBytes + Self.overhead
    }

    deinit {
        switch storage {
        case .message(let message): rd_kafka_message_destroy(message)
        case .copy: value?.deallocate()
        }
    }

    /// The same record in memory of its own.
    ///
    /// Otherwise it keeps the whole answer of the broker alive that contained it, with the records of other partitions.
    package var detached: ConsumedRecord {
        switch storage {
        case .message: ConsumedRecord(copy, timestamp: timestamp)
        case .copy: self
        }
    }

    /// Milliseconds since 1970.
    package var timestamp: Int64 {
        switch storage {
        case .message(let message):
            var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
            return rd_kafka_message_timestamp(message, &type)
        case .copy(_, _, let timestamp): return timestamp
        }
    }

    /// What identifies it in its partition.
    package var note: RecordNote {
        RecordNote(offset: offset, id: header("ce_id"), timestamp: timestamp)
    }

    /// The digest of the plan that its sender checked it against, as text; `nil` if the sender does not say.
    package var planDigest: String? { header(KafkaRecord.planHeader) }

    /// A copy of everything in it but the timestamp.
    package var copy: SourceRecord {
        SourceRecord(offset: offset, key: key, value: value.map { [UInt8]($0) }, headers: headers)
    }

    private var key: [UInt8]? {
        switch storage {
        case .message(let message):
            message.pointee.key.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: message.pointee.key_len)) }
        case .copy(let key, _, _): key
        }
    }

    private var headers: [SourceRecord.Header] {
        switch storage {
        case .message(let message): Self.headers(of: message)
        case .copy(_, let headers, _): headers
        }
    }

    private func header(_ name: String) -> String? {
        switch storage {
        case .message(let message): Self.header(name, of: message)
        case .copy(_, let headers, _):
            headers.last { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) }
        }
    }

    private static func header(_ name: String, of message: UnsafeMutablePointer<rd_kafka_message_t>) -> String? {
        var list: OpaquePointer?
        guard rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list else { return nil }
        var value: UnsafeRawPointer?
        var size = 0
        guard rd_kafka_header_get_last(list, name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        // A header without a value reads as an empty one, as in a copy.
        return String(decoding: UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : size), as: UTF8.self)
    }

    private static func headers(of message: UnsafeMutablePointer<rd_kafka_message_t>) -> [SourceRecord.Header] {
        var list: OpaquePointer?
        guard rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR, let list else { return [] }
        return (0..<rd_kafka_header_cnt(list)).map { index in
            var name: UnsafePointer<CChar>?
            var value: UnsafeRawPointer?
            var size = 0
            rd_kafka_header_get_all(list, index, &name, &value, &size)
            return SourceRecord.Header(
                name: name.map { String(cString: $0) } ?? "",
                value: value.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: size)) } ?? []
            )
        }
    }
}

/// An entry of a partition's queue.
package enum PartitionMessage<Record> {
    case record(Record)
    /// There is no record from this offset on, now.
    case end(Int64)
    /// The fetch offset does not exist, and the partition is not read any more.
    case outOfRange
    case failed(TrackerError)
}
