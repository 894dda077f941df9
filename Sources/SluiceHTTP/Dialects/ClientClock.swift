@_spi(CanonicalJSON) import EventModel

/// Corrects the times of events by a client's clock, which may be wrong, to the time of the server's clock.
struct ClientClock {
    /// The maximum age of an event that a client states: 366 days.
    private static let maximumAgeInMilliseconds = 366.0 * 86_400_000
    /// A number of milliseconds has fewer bytes, even with a fraction.
    private static let maximumNumberBytes = 32

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

    /// Appends the member `time`: the time of arrival, minus the age of the event that the client states in milliseconds.
    ///
    /// Nothing is appended if the value is not a number from 0 to `maximumAgeInMilliseconds`.
    func append(ageInMilliseconds value: UnsafeRawBufferPointer, to output: inout ByteBuilder) {
        guard value.count <= Self.maximumNumberBytes, let age = Double(String(decoding: value, as: UTF8.self)),
            (0...Self.maximumAgeInMilliseconds).contains(age)
        else { return }
        output.append(#","time":"#)
        output.appendQuoted(Timestamp(microseconds: arrival.microseconds - Int64(age * 1000)))
    }

    private mutating func time(_ value: UnsafeRawBufferPointer) -> Timestamp? {
        value.first == UInt8(ascii: "\"") ? reader.read(JSONText.contents(of: value)) : nil
    }
}
