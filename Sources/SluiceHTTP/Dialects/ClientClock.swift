@_spi(CanonicalJSON) import EventModel

/// Works out the times of events by a client's clock, which may be wrong, and corrects them to the time of the server's clock.
struct ClientClock {
    /// The member of the `context` with the time as the client wrote it, if the event has another one.
    static let originalMember: StaticString = "originalTimestamp"
    /// A number of milliseconds has fewer bytes, even with a fraction.
    private static let maximumNumberBytes = 32
    /// The difference of the clocks up to which times are not corrected, in microseconds.
    private static let correctedDifference: Int64 = 30_000_000
    /// The difference from which another attempt could be beyond the other limit, in microseconds.
    private static let notedDifference: Int64 = 10_000_000

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

    /// Appends the member `time`: the time that the client stated or, if its clock differs from the server's by more than
    /// `correctedDifference`, the time of arrival, minus the time between the event and its sending by the client's clock.
    ///
    /// A smaller difference is mostly the time of the transmission, and each attempt then gives the event the same time. If the time is
    /// not plausible, one of the client's two times is wrong: the event then has the time that the client stated, if that is
    /// plausible, and otherwise no member `time`. If the client did not say when it sent the body, or `isCorrected` is false because
    /// the client wants the time to be stored as it is, the event has the time that the client stated. A value that is not a time is
    /// appended as it is.
    ///
    /// If another attempt of the client to send the event could get another time, the member `serverTime` follows.
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
        guard isCorrected, let sentAt else {
            append(stated, to: &output)
            return false
        }
        let difference = arrival.microseconds - sentAt.microseconds
        let time = corrected(stated, by: abs(difference) > Self.correctedDifference ? difference : 0)
        if let time {
            append(time, to: &output)
            if abs(difference) >= Self.notedDifference { output.append(ServerTime.member) }
        }
        return time?.microseconds != stated.microseconds
    }

    private func append(_ time: Timestamp, to output: inout ByteBuilder) {
        output.append(#","time":"#)
        output.appendQuoted(time)
    }

    /// The time of an event by the server's clock; `nil` if nothing better is known than that of its arrival.
    private func corrected(_ stated: Timestamp, by difference: Int64) -> Timestamp? {
        let plausible = window.microseconds(around: arrival)
        let microseconds = stated.microseconds + difference
        if plausible.contains(microseconds) {
            return difference == 0 ? stated : Timestamp(microseconds: microseconds)
        }
        return plausible.contains(stated.microseconds) ? stated : nil
    }

    /// Appends the members `time`, the time of arrival minus the age of the event that the client states in milliseconds, and
    /// `serverTime`.
    ///
    /// Nothing is appended if the value is not a number, or the time is not plausible.
    func append(ageInMilliseconds value: UnsafeRawBufferPointer, to output: inout ByteBuilder) {
        let greatest = arrival.microseconds - window.microseconds(around: arrival).lowerBound
        guard value.count <= Self.maximumNumberBytes, let age = Double(String(decoding: value, as: UTF8.self)),
            age >= 0, age * 1000 <= Double(greatest)
        else { return }
        append(Timestamp(microseconds: arrival.microseconds - Int64(age * 1000)), to: &output)
        output.append(ServerTime.member)
    }

    private mutating func time(_ value: UnsafeRawBufferPointer) -> Timestamp? {
        value.first == UInt8(ascii: "\"") ? reader.read(JSONText.contents(of: value), accepting: forms) : nil
    }
}
