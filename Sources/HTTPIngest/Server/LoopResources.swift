import EventModel
import EventPipeline
import NIOCore

/// What all connections of one event loop share, and no other loop touches.
final class LoopResources {
    /// The answer nearly every request gets; a copy for each loop, for a shared one's count would be fought over.
    let acceptedOne: ByteBuffer
    /// Checks bodies; it keeps its memory from body to body.
    let validator: EventValidator

    private var inflater: GzipInflater
    private let maximumBodyBytes: Int

    init(
        catalog: EventCatalog,
        maximumBodyBytes: Int,
        maximumRejections: Int,
        now: @escaping @Sendable () -> Timestamp
    ) throws(GzipError) {
        self.maximumBodyBytes = maximumBodyBytes
        inflater = try GzipInflater(maximumOutputBytes: maximumBodyBytes)
        validator = EventValidator(catalog: catalog, maximumRejections: maximumRejections, now: now)
        let body = AnswerEncoder.verdicts(accepted: 1, rejections: [])
        acceptedOne = AnswerEncoder.answer(status: "200 OK", body: body, persistence: .implied)
    }

    /// Checks every event of a body.
    ///
    /// - Throws: `MalformedBody` for the sender's fault, `UncheckedBody` for ours.
    func check(_ body: ByteBuffer, as format: BodyFormat) throws -> CheckedBody {
        try body.withUnsafeReadableBytes { try validator.check($0, as: format) }
    }

    /// Inflates a whole body.
    ///
    /// - Throws: `GzipError` where it is damaged, or larger than a body may be.
    func inflate(_ body: ByteBuffer) throws -> ByteBuffer {
        inflater.reset()
        var output = ByteBufferAllocator().buffer(capacity: min(maximumBodyBytes, max(4096, body.readableBytes * 4)))
        try body.withUnsafeReadableBytes { bytes in
            var input = bytes
            var filled = true
            while !input.isEmpty || filled {
                try output.writeWithUnsafeMutableBytes(minimumWritableBytes: 4096) { room in
                    let count = try inflater.inflate(&input, into: room)
                    filled = count == room.count
                    return count
                }
            }
        }
        try inflater.finish()
        return output
    }
}
