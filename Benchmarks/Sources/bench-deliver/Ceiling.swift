import AsyncHTTPClient
import CCeilings
import Foundation
import NIOCore
import NIOHTTP1
import Sluice

/// What a tracker builds on, with the bytes of the same deliveries, which are prepared before the clock starts.
struct Ceiling {
    /// The lines of each delivery.
    private let bodies: [[UInt8]]
    private let passes: Int

    init(_ deliveries: [Delivery], passes: Int) {
        bodies = deliveries.map { $0.slices.flatMap { Array($0.batch.lines) } }
        self.passes = passes
    }

    /// Sends the bytes to the standard input of `cat > FILE`, until it has ended.
    func cat(to path: String) throws -> Duration {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else { throw BenchmarkError("cannot write \(path)") }
        let (input, errors) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/cat")
        process.standardInput = input
        process.standardOutput = file
        process.standardError = errors
        try process.run()
        let descriptor = input.fileHandleForWriting.fileDescriptor
        // The tracker's pipe has as much.
        set_pipe_room(descriptor, 1 << 20)
        let start = ContinuousClock.now
        for _ in 0..<passes {
            for body in bodies { try writeAll(body, to: descriptor) }
        }
        try input.fileHandleForWriting.close()
        // It ends with the process, which `waitUntilExit` may notice later.
        let said = try errors.fileHandleForReading.readToEnd()
        let elapsed = ContinuousClock.now - start
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkError("cat failed: \(String(decoding: said ?? Data(), as: UTF8.self))")
        }
        return elapsed
    }

    /// Posts each body with AsyncHTTPClient, one after another over one connection.
    @concurrent
    func post(to url: String) async throws -> Duration {
        let buffers = bodies.map { ByteBuffer(bytes: $0) }
        return try await HTTPClient.withHTTPClient { client in
            try await Self.post(buffers[0], to: url, with: client)
            let start = ContinuousClock.now
            for _ in 0..<passes {
                for buffer in buffers { try await Self.post(buffer, to: url, with: client) }
            }
            return ContinuousClock.now - start
        }
    }

    private static func post(_ body: ByteBuffer, to url: String, with client: HTTPClient) async throws {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-ndjson")
        request.body = .bytes(body)
        let response = try await client.execute(request, deadline: .distantFuture)
        _ = try await response.body.collect(upTo: 1 << 20)
        guard response.status == .ok else { throw BenchmarkError("the receiver answers \(response.status)") }
    }

    /// Appends each body to a file, and syncs it.
    func append(to path: String) throws -> Duration {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard file >= 0 else { throw BenchmarkError("cannot write \(path)") }
        defer { close(file) }
        try appendSynced(bodies[0], to: file)
        let start = ContinuousClock.now
        for _ in 0..<passes {
            for body in bodies { try appendSynced(body, to: file) }
        }
        return ContinuousClock.now - start
    }

    /// Compresses each body in memory, and discards the result.
    func deflate() throws -> Duration {
        // The lines of events take less room once they are compressed.
        var room = [UInt8](repeating: 0, count: bodies.map(\.count).max() ?? 0)
        let start = ContinuousClock.now
        for _ in 0..<passes {
            for body in bodies {
                guard deflate_to_gzip(body, body.count, &room, room.count) > 0 else {
                    throw BenchmarkError("zlib failed")
                }
            }
        }
        return ContinuousClock.now - start
    }

    // MARK: Files

    private func appendSynced(_ bytes: [UInt8], to file: Int32) throws {
        try writeAll(bytes, to: file)
        #if canImport(Darwin)
        // As the tracker does, because fsync alone leaves the bytes in the drive's cache.
        let result = fcntl(file, F_FULLFSYNC)
        #else
        let result = fdatasync(file)
        #endif
        guard result == 0 else { throw BenchmarkError("cannot sync: \(String(cString: strerror(errno)))") }
    }

    private func writeAll(_ bytes: [UInt8], to file: Int32) throws {
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                guard count > 0 else { throw BenchmarkError("cannot write: \(String(cString: strerror(errno)))") }
                rest = rest.dropFirst(count)
            }
        }
    }
}
