@_spi(CanonicalJSON) import EventModel

/// Writes the beginning of canonical lines: id, name, time and time of arrival.
struct EnvelopeWriter {
    private var times = TimestampWriter()
    private var arrivalTimes = TimestampWriter()

    /// Appends the fields up to and including `receivedAt`; without an id, with room for one that is inserted later.
    @inline(__always)
    mutating func append(
        id: EventID?,
        of event: CompiledPlan.Event,
        time: Timestamp,
        receivedAt: Timestamp,
        keys: CompiledPlan.EnvelopeKeys,
        to output: inout ByteBuilder
    ) {
        output.reserve(event.nameAndTimeKey.count + 192)
        output.appendPadded(keys.id.bytes)
        id?.write(to: output.end)
        output.count += EventID.textLength
        output.appendPadded(event.nameAndTimeKey.bytes)
        output.count += times.write(time, to: output.end)
        output.appendPadded(keys.receivedAt.bytes)
        // An event without a time of its own has the time of its arrival, which is already in the cache.
        if receivedAt == time {
            output.count += times.write(time, to: output.end)
        } else {
            output.count += arrivalTimes.write(receivedAt, to: output.end)
        }
        output.append(UInt8(ascii: "\""))
    }

    /// Inserts the id into the line that begins at `start`.
    @inline(__always)
    static func insert(
        _ id: EventID,
        intoLineAt start: Int,
        keys: CompiledPlan.EnvelopeKeys,
        of output: inout ByteBuilder
    ) {
        let end = output.count
        output.count = start + keys.id.count
        id.write(to: output.end)
        output.count = end
    }
}
