import Foundation
import Gzip
import Testing

/// Tests the inflater with the output of the real `gzip`.
@Suite("Gzip")
struct GzipInflaterTests {
    private let text = Array((0..<20_000).map { "line \($0 * 7919 % 10_007)\n" }.joined().utf8)

    @Test("the output of gzip is inflated, whatever the size of the input pieces", arguments: [1, 2, 7, 1000, 1 << 20])
    func pieces(size: Int) throws {
        let gzipped = try gzip(text)
        var inflater = try GzipInflater()
        #expect(try inflate(gzipped, with: &inflater, inputPiece: size, outputPiece: max(1, size / 2)) == text)
    }

    @Test("concatenated members are one stream, with input split at every byte")
    func members() throws {
        let first = try gzip(Array("one\n".utf8))
        let second = try gzip(Array("two\n".utf8))
        let empty = try gzip([])
        let all = first + empty + second
        for cut in 0...all.count {
            var inflater = try GzipInflater()
            var output = try inflatePart(Array(all[..<cut]), with: &inflater)
            output += try inflatePart(Array(all[cut...]), with: &inflater)
            try inflater.finish()
            #expect(output == Array("one\ntwo\n".utf8))
        }
    }

    @Test("data that is cut at any byte is reported as truncated")
    func truncated() throws {
        let gzipped = try gzip(Array("a small event\n".utf8))
        for length in 0..<gzipped.count {
            var inflater = try GzipInflater()
            _ = try inflatePart(Array(gzipped[..<length]), with: &inflater)
            #expect(code { try inflater.finish() } == .truncated, "cut at \(length)")
        }
    }

    @Test("a flipped bit in the data or the checksum never gives wrong output")
    func flippedBits() throws {
        let plain = Array("one small event, two large events, no event at all\n".utf8)
        let gzipped = try gzip(plain)
        // No checksum covers the header's time and operating system (bytes 4 to 9), which do not affect the output.
        var harmless = 0
        for index in gzipped.indices where !(4...9).contains(index) {
            var damaged = gzipped
            damaged[index] ^= 0x10
            var inflater = try GzipInflater()
            let failure = code {
                let output = try inflatePart(damaged, with: &inflater)
                try inflater.finish()
                #expect(output == plain, "byte \(index)")
            }
            #expect([nil, .corrupt, .truncated].contains(failure), "byte \(index)")
            harmless += failure == nil ? 1 : 0
        }
        // The padding bits of the last data byte, and one header flag, do not affect the output.
        #expect(harmless <= 2)
    }

    @Test("plain text, the zlib format and garbage after a member are reported as corruption")
    func notGzip() throws {
        let zlibHeader: [UInt8] = [0x78, 0x9C, 0x03, 0x00, 0x00, 0x00, 0x00, 0x01]
        let trailing = try gzip(text) + Array("garbage".utf8)
        for bytes in [Array(#"{"name":"x"}"#.utf8), zlibHeader, trailing] {
            var inflater = try GzipInflater()
            #expect(code { _ = try inflatePart(bytes, with: &inflater) } == .corrupt)
        }
    }

    @Test("the output limit is exact to the byte, and covers all members together")
    func limit() throws {
        let two = try gzip(text) + gzip(text)
        var exact = try GzipInflater(maximumOutputBytes: text.count * 2)
        #expect(try inflate(two, with: &exact).count == text.count * 2)
        var short = try GzipInflater(maximumOutputBytes: text.count * 2 - 1)
        #expect(code { _ = try inflate(two, with: &short) } == .outputTooLarge)
    }

    @Test("a decompression bomb is stopped at the limit")
    func bomb() throws {
        let bomb = try gzip([UInt8](repeating: 0, count: 64 << 20))
        #expect(bomb.count < 100_000)
        var inflater = try GzipInflater(maximumOutputBytes: 1 << 20)
        var produced = 0
        let failure = code {
            try bomb.withUnsafeBytes { bytes in
                var input = bytes
                let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
                defer { room.deallocate() }
                while !input.isEmpty { produced += try inflater.inflate(&input, into: room) }
            }
        }
        #expect(failure == .outputTooLarge)
        #expect(produced <= 1 << 20)
    }

    @Test("after a reset the next stream is inflated, whatever happened to the previous one")
    func reset() throws {
        let gzipped = try gzip(text)
        var inflater = try GzipInflater(maximumOutputBytes: text.count)
        for _ in 0..<3 {
            _ = try inflatePart(Array(gzipped[..<100]), with: &inflater)
            inflater.reset()
            #expect(code { _ = try inflatePart([1, 2, 3, 4], with: &inflater) } == .corrupt)
            inflater.reset()
            #expect(try inflate(gzipped, with: &inflater) == text)
            inflater.reset()
        }
    }

    @Test("an error's text does not show the input")
    func description() throws {
        var inflater = try GzipInflater()
        do {
            _ = try inflatePart(Array("secret".utf8), with: &inflater)
            Issue.record("plain text was inflated")
        } catch {
            #expect(error.description == "The data is not gzip, or is damaged. [corrupt]")
            #expect(!error.isRetryable)
        }
    }
}

/// The code of the `GzipError` that `body` throws.
private func code(_ body: () throws -> Void) -> GzipError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? GzipError)?.code
    }
}

private func inflate(
    _ bytes: [UInt8],
    with inflater: inout GzipInflater,
    inputPiece: Int = 4096,
    outputPiece: Int = 4096
) throws(GzipError) -> [UInt8] {
    var output: [UInt8] = []
    var start = 0
    while start < bytes.count {
        let end = min(start + inputPiece, bytes.count)
        output += try inflatePart(Array(bytes[start..<end]), with: &inflater, outputPiece: outputPiece)
        start = end
    }
    try inflater.finish()
    return output
}

private func inflatePart(
    _ bytes: [UInt8],
    with inflater: inout GzipInflater,
    outputPiece: Int = 4096
) throws(GzipError) -> [UInt8] {
    let source = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: outputPiece, alignment: 16)
    defer {
        source.deallocate()
        room.deallocate()
    }
    source.copyBytes(from: bytes)
    var input = UnsafeRawBufferPointer(source)
    var output: [UInt8] = []
    var count = 0
    repeat {
        count = try inflater.inflate(&input, into: room)
        output += room[..<count]
    } while !input.isEmpty || count == room.count
    return output
}

/// The bytes, compressed by the `gzip` command.
private func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
    let file = FileManager.default.temporaryDirectory.appending(path: "sluice-gzip-\(UUID().uuidString)")
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["gzip", "-c"]
    // Reads standard input, so that the header has no file name, which no checksum would cover.
    process.standardInput = try FileHandle(forReadingFrom: file)
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return Array(data)
}
