import Foundation
import TrackerKit

extension MockKafkaCluster {
    /// Appends the record with which a transaction ends, which belongs to no client: it only takes an offset.
    ///
    /// The cluster must have one broker. Producers cannot send such a record, so this sends a produce request of its own.
    package func writeControlRecord(to topic: String, partition: Int32) async throws {
        let address = bootstrapServers.split(separator: ":")
        guard address.count == 2, let port = UInt16(address[1]) else { throw MockFailure("one broker is needed") }
        let request = Self.produceRequest(topic, partition, Self.controlBatch)
        let answer = await onBlockingThread { Self.exchange(request, port: port) }
        // Correlation, number of topics, name, number of partitions, partition, error.
        let error = 4 + 4 + 2 + topic.utf8.count + 4 + 4
        guard answer.count >= error + 2, answer[error] == 0, answer[error + 1] == 0 else {
            throw MockFailure("the control record was not written")
        }
    }

    /// A batch of format 2 with one record, whose key says that the transaction was committed.
    private static var controlBatch: [UInt8] {
        let (isControl, isTransactional): (Int16, Int16) = (1 << 5, 1 << 4)
        let time = Int64(Date.now.timeIntervalSince1970 * 1000)
        // Everything is of one byte but the key and the value; signed numbers of variable length are doubled.
        let record: [UInt8] = [32, 0, 0, 0, 8] + [0, 0, 0, 1] + [12] + [0, 0, 0, 0, 0, 0] + [0]
        let rest =
            bytes(Int32(-1)) + [2] + bytes(Int32(0)) + bytes(isControl | isTransactional) + bytes(Int32(0))
            + bytes(time) + bytes(time) + bytes(Int64(1)) + bytes(Int16(0)) + bytes(Int32(-1)) + bytes(Int32(1))
            + record
        return bytes(Int64(0)) + bytes(Int32(rest.count)) + rest
    }

    private static func produceRequest(_ topic: String, _ partition: Int32, _ batch: [UInt8]) -> [UInt8] {
        let header = bytes(Int16(0)) + bytes(Int16(3)) + bytes(Int32(1)) + text("test")
        let body =
            bytes(Int16(-1)) + bytes(Int16(-1)) + bytes(Int32(5000)) + bytes(Int32(1)) + text(topic) + bytes(Int32(1))
            + bytes(partition) + bytes(Int32(batch.count)) + batch
        return bytes(Int32(header.count + body.count)) + header + body
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    private static func text(_ text: String) -> [UInt8] { bytes(Int16(text.utf8.count)) + Array(text.utf8) }

    /// Sends a request, and returns the answer without its length; empty after a failure.
    private static func exchange(_ request: [UInt8], port: UInt16) -> [UInt8] {
        let connection = SilentProxy.makeSocket()
        defer { close(connection) }
        var address = SilentProxy.address(port: port)
        guard SilentProxy.withAddress(&address, { connect(connection, $0, $1) }) == 0,
            send(connection, request, request.count, SilentProxy.noSignal) == request.count
        else { return [] }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while answer.count < 4 || answer.count < 4 + answer[..<4].reduce(0, { $0 << 8 | Int($1) }) {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return [] }
            answer += buffer[..<count]
        }
        return Array(answer.dropFirst(4))
    }
}
