@_spi(CanonicalJSON) import EventModel

/// Corrects the times of events by a client's clock, which may be wrong, to the time of the server's clock.
struct ClientClock {
    private let arrival: Timestamp
    /// When the client sent the body, by its own clock.
    private var sentAt: Timestamp?
    private var reader = TimestampReader()

    init(arrival: Timestamp, sentAt: Timestamp? = nil) {
        self.arrival = arrival
        self.sentAt = sentAt
    }

    /// Notes when the client sent the body; anything but a time is ignored.
    mutating func noteSentAt(_ value: UnsafeRawBufferPointer) {
        sentAt = time(value) ?? sentAt
    }

    /// Appends the member `time`: the time of arrival, minus the time between the event and its sending by the client's clock.
    ///
    /// If the client did not say when it sent the body, or the value is not a time, the value is appended as it is.
    ///
    /// - Parameter isCorrected: False for a time that the client wants to be stored as it is.
    mutating func append(_ value: UnsafeRawBufferPointer, isCorrected: Bool = true, to output: inout ByteBuilder) {
        guard isCorrected, let sentAt, let stated = time(value) else { return output.append(#","time":"#, value) }
        output.append(#","time":"#)
        let age = sentAt.microseconds - stated.microseconds
        output.appendQuoted(Timestamp(microseconds: arrival.microseconds - age))
    }

    private mutating func time(_ value: UnsafeRawBufferPointer) -> Timestamp? {
        value.first == UInt8(ascii: "\"") ? reader.read(JSONText.contents(of: value)) : nil
    }
}
