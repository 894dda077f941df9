import NIOCore
import SluiceHTTP
import TestPromises
import Testing

@Suite("The allowance for HTTP/2 frames")
struct FrameAllowanceTests {
    /// A connection with a clock that the test advances.
    private final class Connection {
        static let (data, headers, priority, reset, ping, windowUpdate): (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8) = (
            0, 1, 2, 3, 6, 8
        )
        var now = NIODeadline.uptimeNanoseconds(0)
        var allowance = FrameAllowance(maximumStreams: 100, maximumResets: 200, now: .uptimeNanoseconds(0))

        func receive(_ kind: UInt8, length: Int = 4, flags: UInt8 = 0) -> Bool {
            let frame = FrameHeader(length: length, kind: kind, flags: flags, stream: 1)
            return allowance.receive(frame, beginsRequest: kind == Self.headers, now: now)
        }

        func violate() -> Bool { allowance.violate(now: now) }

        /// How many of the same frames are allowed at once.
        func count(of kind: UInt8, length: Int = 4, flags: UInt8 = 0) -> Int {
            var count = 0
            while count < 100_000, receive(kind, length: length, flags: flags) { count += 1 }
            return count
        }
    }

    @Test("clients that work never reach the limit", .promise("malformed-http"))
    func honest() {
        // A PING each second for a day, and nothing else.
        let pings = Connection()
        for _ in 0..<86400 {
            #expect(pings.receive(Connection.ping))
            pings.now = pings.now + .seconds(1)
        }
        // A load tool: many requests at once, each with PRIORITY, two WINDOW_UPDATE frames and a PING, without any pause.
        let load = Connection()
        for _ in 0..<100_000 {
            #expect(load.receive(Connection.headers, length: 200) && load.receive(Connection.data, length: 28))
            #expect(load.receive(Connection.priority) && load.receive(Connection.ping))
            load.allowance.answer(bytes: 28)
            #expect(load.receive(Connection.windowUpdate) && load.receive(Connection.windowUpdate))
        }
        // A client that reads a schema of 16 MiB in pieces of 512 bytes.
        let reader = Connection()
        #expect(reader.receive(Connection.headers))
        for _ in 0..<(16 << 20) / 512 {
            reader.allowance.answer(bytes: 512)
            #expect(reader.receive(Connection.windowUpdate) && reader.receive(Connection.windowUpdate))
        }
        // A client that sends a body of 8 MiB, each line by itself.
        let writer = Connection()
        #expect(writer.receive(Connection.headers))
        for _ in 0..<(8 << 20) / 28 { #expect(writer.receive(Connection.data, length: 28)) }
        // A page that cancels four requests a second.
        let page = Connection()
        for _ in 0..<10_000 {
            #expect(page.receive(Connection.headers) && page.receive(Connection.reset) && page.receive(Connection.ping))
            page.now = page.now + .milliseconds(250)
        }
    }

    @Test("frames that carry nothing use the allowance up, whatever their type")
    func floods() {
        for kind in UInt8.min...UInt8.max where kind != Connection.headers && kind != Connection.reset {
            let connection = Connection()
            #expect(connection.count(of: kind, length: kind == Connection.data ? 0 : 13) == 3000, "type \(kind)")
        }
        var connection = Connection()
        // A byte each, and a byte each with padding.
        #expect(connection.count(of: Connection.data, length: 1) < 3300)
        connection = Connection()
        #expect(connection.count(of: Connection.data, length: 257, flags: 8) == 3000)
        connection = Connection()
        #expect(connection.count(of: Connection.reset) == 200)
        connection.now = connection.now + .seconds(60)
        #expect(connection.count(of: Connection.reset) == 200)
    }

    @Test("requests that violate the protocol use the allowance of those that are cancelled")
    func violations() {
        let connection = Connection()
        for _ in 0..<100 { #expect(connection.receive(Connection.reset)) }
        for _ in 0..<100 { #expect(connection.violate()) }
        #expect(!connection.violate())
        #expect(!connection.receive(Connection.reset))
        #expect(connection.receive(Connection.ping))
    }

    @Test("headers of frames are found however the bytes are cut, and their payloads are skipped")
    func reader() {
        let frames = [
            FrameHeader(length: 0, kind: 4, stream: 0),
            FrameHeader(length: 300, kind: 0, flags: 1, stream: 0x7FFF_FFFF),
            FrameHeader(length: 5, kind: 0xFE, stream: 3),
        ]
        var bytes = ByteBuffer(repeating: 0xFF, count: FrameHeaderReader.prefaceBytes)
        bytes.writeBytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
        // The reserved bit of the stream is ignored.
        bytes.writeBytes([0, 1, 44, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF])
        bytes.writeRepeatingByte(0xAA, count: 300)
        bytes.writeBytes([0, 0, 5, 0xFE, 0, 0, 0, 0, 3, 1, 2, 3, 4, 5])
        for size in [1, 2, 7, 9, 10, 64, 1000] {
            var (reader, rest, found) = (
                FrameHeaderReader(skippedBytes: FrameHeaderReader.prefaceBytes), bytes, [FrameHeader]()
            )
            while rest.readableBytes > 0, var piece = rest.readSlice(length: min(size, rest.readableBytes)) {
                while let frame = reader.next(in: &piece) { found.append(frame) }
            }
            #expect(found == frames, "pieces of \(size) bytes")
        }
    }
}
