internal import CZlib

/// Inflates gzip (RFC 1952) as a stream, in constant memory.
///
/// Concatenated members form one stream, as for `gzip -d`; anything else after a member is an error. The caller passes each piece
/// of input until it is used up, and calls `finish` at the end.
///
/// After an error, the inflater can only be `reset`.
package struct GzipInflater: ~Copyable {
    /// The position of the next byte of input in the stream.
    private enum Position {
        /// Before the first member.
        case start
        /// Inside a member.
        case member
        /// After a whole member; another may follow.
        case betweenMembers
    }

    // zlib keeps a pointer to the stream in its own state, so the stream must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private let maximumOutputBytes: Int
    private let stopsAfterMembers: Bool
    private var outputBytes = 0
    private var position = Position.start
    /// An error that is thrown by the next call, because output before it had to be returned first.
    private var failure: GzipError?

    /// Prepares for a stream with at most `maximumOutputBytes` of output.
    ///
    /// Default: no limit. With `stopsAfterMembers`, `inflate` uses no input after the end of a member before it is called again.
    ///
    /// - Throws: `GzipError` with `outOfMemory`.
    package init(maximumOutputBytes: Int = .max, stopsAfterMembers: Bool = false) throws(GzipError) {
        self.maximumOutputBytes = maximumOutputBytes
        self.stopsAfterMembers = stopsAfterMembers
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 16 asks for the gzip wrapper, 15 allows the largest window.
        let status = inflateInit2_(stream, 16 + 15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            stream.deinitialize(count: 1)
            stream.deallocate()
            throw GzipError(.outOfMemory, "There is not enough memory to inflate.")
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Whether the input so far ends where a member ends.
    package var isBetweenMembers: Bool { position == .betweenMembers }

    /// Discards the current stream, and starts another one with the same limit.
    package mutating func reset() {
        inflateReset(stream)
        outputBytes = 0
        position = .start
        failure = nil
    }

    /// Inflates from the front of `input`, removes what it used, writes to `output`, and returns the number of bytes written.
    ///
    /// It stops when `input` is used up or `output` is full. Output may remain when the input is used up: while the returned count
    /// equals `output.count`, call again, with an empty `input` if necessary.
    ///
    /// Output that precedes damaged data is returned; the next call throws the error.
    ///
    /// - Throws: `GzipError` with `corrupt`, or with `outputTooLarge` as soon as the limit is exceeded.
    package mutating func inflate(
        _ input: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(GzipError) -> Int {
        if let failure { throw failure }
        var written = 0
        do {
            repeat {
                if position == .betweenMembers, !input.isEmpty { inflateReset(stream) }
                if position != .member, input.isEmpty { break }
                written += try step(&input, into: UnsafeMutableRawBufferPointer(rebasing: output[written...]))
            } while !input.isEmpty && written < output.count && !(stopsAfterMembers && isBetweenMembers)
        } catch  where error.code == .corrupt && written > 0 {
            failure = error
        }
        return written
    }

    /// Ends the input.
    ///
    /// - Throws: `GzipError` with `truncated`, unless the input ended where a member ends.
    package borrowing func finish() throws(GzipError) {
        if let failure { throw failure }
        guard position == .betweenMembers else {
            throw GzipError(.truncated, "The gzip data ends too early.")
        }
    }

    private mutating func step(
        _ input: inout UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(GzipError) -> Int {
        // zlib counts in 32 bits; what does not fit is offered in the next step.
        let offered = min(input.count, Int(Int32.max))
        let room = min(output.count, Int(Int32.max))
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: input.baseAddress?.assumingMemoryBound(to: Bytef.self)
        )
        stream.pointee.avail_in = uInt(offered)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: Bytef.self)
        stream.pointee.avail_out = uInt(room)
        let status = CZlib.inflate(stream, Z_NO_FLUSH)
        let taken = offered - Int(stream.pointee.avail_in)
        let written = room - Int(stream.pointee.avail_out)
        input = UnsafeRawBufferPointer(rebasing: input[taken...])
        try note(status)
        outputBytes += written
        guard outputBytes <= maximumOutputBytes else {
            throw GzipError(.outputTooLarge, "The gzip data inflates to more than \(maximumOutputBytes) bytes.")
        }
        return written
    }

    private mutating func note(_ status: Int32) throws(GzipError) {
        switch status {
        case Z_OK, Z_BUF_ERROR:
            // Z_BUF_ERROR: nothing moved for want of input or of room, which is no fault.
            position = .member
        case Z_STREAM_END:
            position = .betweenMembers
        case Z_MEM_ERROR:
            throw GzipError(.outOfMemory, "There is not enough memory to inflate.")
        default:
            throw GzipError(.corrupt, "The data is not gzip, or is damaged.")
        }
    }
}
