internal import CZlib

/// Compresses bytes to one member of gzip (RFC 1952).
package enum GzipDeflater {
    /// Compresses all of `bytes`, with zlib's fastest level; higher levels gain little on events.
    ///
    /// - Throws: `GzipError` with `outOfMemory`.
    package static func compress(_ bytes: UnsafeRawBufferPointer) throws(GzipError) -> [UInt8] {
        var stream = z_stream()
        // 16 asks for the gzip wrapper, 15 is the largest window, and 8 zlib's own default of memory.
        let status = deflateInit2_(
            &stream,
            Z_BEST_SPEED,
            Z_DEFLATED,
            16 + 15,
            8,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        guard status == Z_OK else { throw outOfMemory }
        defer { deflateEnd(&stream) }
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, uLong(bytes.count))))
        var count = 0
        var input = bytes
        repeat {
            // zlib counts in 32 bits; what does not fit is offered in the next step.
            let offered = min(input.count, Int(Int32.max))
            let isLast = offered == input.count
            let status = output.withUnsafeMutableBytes { output in
                let rest = UnsafeMutableRawBufferPointer(rebasing: output[count...])
                let room = min(rest.count, Int(Int32.max))
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: Bytef.self))
                stream.avail_in = uInt(offered)
                stream.next_out = rest.baseAddress?.assumingMemoryBound(to: Bytef.self)
                stream.avail_out = uInt(room)
                let status = deflate(&stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                count += room - Int(stream.avail_out)
                return status
            }
            input = UnsafeRawBufferPointer(rebasing: input[(offered - Int(stream.avail_in))...])
            if status == Z_STREAM_END { break }
            guard status == Z_OK, !isLast || count < output.count else { throw outOfMemory }
        } while true
        output.removeLast(output.count - count)
        return output
    }

    /// Compresses all of `bytes`.
    ///
    /// - Throws: `GzipError` with `outOfMemory`.
    package static func compress(_ bytes: [UInt8]) throws(GzipError) -> [UInt8] {
        let result = bytes.withUnsafeBytes { bytes in
            do throws(GzipError) { return Result<[UInt8], GzipError>.success(try compress(bytes)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static var outOfMemory: GzipError {
        GzipError(.outOfMemory, "There is not enough memory to compress.")
    }
}
