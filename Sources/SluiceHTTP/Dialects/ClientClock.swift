@_spi(CanonicalJSON) import EventModel

/// Works out the times of events by a client's clock, which may be wrong, and corrects them to the time of the server's clock.
struct ClientClock {
    /// The member of the `context` with the time as the client wrote it, if the event has another one.
    static let originalMember: StaticString = "originalTimestamp"
    /// A number of milliseconds has fewer bytes, even with a fraction.
    private static let maximumNumberBytes = 32

    private let arrival: Timestamp
    /// The times that a correction may have as its result.
    private let window: TimeWindow
    private let forms: TimeForms
    /// When the client sent the body, by its own clock.
    private var sentAt: Timestamp?
    private var reader = TimestampReader()

    init(_ arrival: BodyArrival, accepting forms: TimeForms, sentAt: Timestamp? = nil) {
        self.arrival = arrival.time
        window = arrival.window
        self.forms = forms
        self.sentAt = sentAt
    }

    /// Notes when the client sent the body; anything but a time is ignored.
    mutating func noteSentAt(_ value: UnsafeRawBufferPointer) {
        sentAt = time(value) ?? sentAt
    }

    /// Appends the member `time`: the time of arrival, minus the time between the event and its sending by the client's clock.
    ///
    /// If that is not plausible, one of the client's two times is wrong: the event then has the time that the client stated, if
    /// that is plausible, and otherwise no member `time`, which means the time of arrival. If the client did not say when it sent
    /// the body, or `isCorrected` is false because the client wants the time to be stored as it is, the event has the time that the
    /// client stated. A value that is not a time is appended as it is.
    ///
    /// - Returns: Whether the event has another time than the client stated.
    mutating func append(
        _ value: UnsafeRawBufferPointer,
        isCorrected: Bool = true,
        to output: inout ByteBuilder
    ) -> Bool {
        guard let stated = time(value) else {
            output.append(#","time":"#, value)
            return false
        }
        let time = isCorrected ? corrected(stated) : stated
        guard let time else { return true }
        output.append(#","time":"#)
        output.appendQuoted(time)
        return time.microseconds != stated.microseconds
    }

    /// The time of an event by the server's clock; `nil` if nothing better is known than that of its arrival.
    private func corrected(_ stated: Timestamp) -> Timestamp? {
        guard let sentAt else { return stated }
        let microseconds = arrival.microseconds - (sentAt.microseconds - stated.microseconds)
        if window.microseconds(around: arrival).contains(microseconds) {
            return Timestamp(microseconds: microseconds)
        }
        return window.contains(stated, arrival: arrival) ? stated : nil
    }

    /// Appends the member `time`: the time of arrival, minus the age of the event that the client states in milliseconds.
    ///
    /// Nothing is appended if the value is not a number, or the time is not plausible.
    func append(ageInMilliseconds value: UnsafeRawBufferPointer, to output: inout ByteBuilder) {
        guard value.count <= Self.maximumNumberBytes, let age = Double(String(decoding: value, as: UTF8.self)),
            (0...window.past / .milliseconds(1)).contains(age)
        else { return }
        output.append(#","time":"#)
        output.appendQuoted(Timestamp(microseconds: arrival.microseconds - Int64(age * 1000)))
    }

    private mutating func time(_ value: UnsafeRawBufferPointer) -> Timestamp? {
        value.first == UInt8(ascii: "\"") ? reader.read(JSONText.contents(of: value), accepting: forms) : nil
    }
}
