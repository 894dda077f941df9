import EventModel
package import EventValidation

/// Encodes canonical lines as rows of PostgreSQL's binary COPY format.
package struct CopyEncoder {
    /// The beginning of a binary COPY: its signature, no flags, no extension.
    package static let header: [UInt8] =
        Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + [UInt8](repeating: 0, count: 8)
    /// The end of a binary COPY.
    package static let trailer: [UInt8] = [0xFF, 0xFF]

    /// Microseconds from 1970 to 2000, the epoch of PostgreSQL's timestamps.
    private static let epochInMicroseconds: Int64 = 946_684_800_000_000
    private static let epochInDays: Int32 = 10_957

    /// The time of arrival that was parsed last, because many consecutive lines have the same.
    private var arrival: (text: (UInt64, UInt64, UInt64, UInt64), length: Int, microseconds: Int64) = (
        (0, 0, 0, 0), -1, 0
    )

    package init() {}

    /// Appends one row; if the event has a defect, the buffer is unchanged.
    package mutating func append(
        _ line: UnsafeRawBufferPointer,
        _ entry: EventBatch.Entry,
        _ layout: RowLayout,
        to buffer: inout CopyBuffer
    ) throws(RowDefect) {
        let start = buffer.count
        buffer.reserve(line.count + layout.overhead)
        do throws(RowDefect) {
            guard var reader = CanonicalReader(line) else { throw .notCanonical(offset: 0) }
            buffer.append(layout.fieldCount)
            try appendEnvelope(&reader, entry, &buffer)
            try Self.appendPayload(&reader, layout, &buffer)
        } catch {
            buffer.truncate(to: start)
            throw error
        }
    }

    // MARK: Envelope

    private mutating func appendEnvelope(
        _ reader: inout CanonicalReader,
        _ entry: EventBatch.Entry,
        _ buffer: inout CopyBuffer
    ) throws(RowDefect) {
        // The entry already contains the id and the time, so their text is skipped.
        guard
            reader.take(UInt8(ascii: "{")),
            Self.takeKey("\"id\":", &reader), reader.takeString() != nil, reader.take(UInt8(ascii: ",")),
            Self.takeKey("\"name\":", &reader), reader.takeString() != nil, reader.take(UInt8(ascii: ",")),
            Self.takeKey("\"time\":", &reader), reader.takeString() != nil, reader.take(UInt8(ascii: ",")),
            Self.takeKey("\"receivedAt\":", &reader), let arrivedAt = reader.takeString(),
            let received = microseconds(ofArrival: arrivedAt.text)
        else { throw .notCanonical(offset: reader.position) }
        buffer.append(16 as Int32)
        buffer.append(entry.id.high)
        buffer.append(entry.id.low)
        Self.appendTimestamp(entry.time.microseconds, &buffer)
        Self.appendTimestamp(received, &buffer)
        _ = reader.take(UInt8(ascii: ","))
        try Self.appendOptional("\"userId\":", .text, &reader, &buffer)
        try Self.appendOptional("\"anonymousId\":", .text, &reader, &buffer)
        try Self.appendOptional("\"sessionId\":", .text, &reader, &buffer)
        try Self.appendOptional("\"context\":", .jsonb, &reader, &buffer)
    }

    @inline(__always)
    private static func takeKey(_ key: StaticString, _ reader: inout CanonicalReader) -> Bool {
        reader.take(UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
    }

    @inline(__always)
    private static func appendOptional(
        _ key: StaticString,
        _ type: ColumnType,
        _ reader: inout CanonicalReader,
        _ buffer: inout CopyBuffer
    ) throws(RowDefect) {
        guard takeKey(key, &reader) else { return buffer.appendNull() }
        try appendValue(type, &reader, &buffer)
        _ = reader.take(UInt8(ascii: ","))
    }

    @inline(__always)
    private mutating func microseconds(ofArrival text: UnsafeRawBufferPointer) -> Int64? {
        guard text.count <= 32 else { return nil }
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: text) }
        if text.count == arrival.length, words == arrival.text { return arrival.microseconds }
        guard let time = Timestamp(text: text) else { return nil }
        arrival = (words, text.count, time.microseconds)
        return time.microseconds
    }

    // MARK: Payload

    private static func appendPayload(
        _ reader: inout CanonicalReader,
        _ layout: RowLayout,
        _ buffer: inout CopyBuffer
    ) throws(RowDefect) {
        guard takeKey("\"payload\":", &reader), reader.take(UInt8(ascii: "{")) else {
            throw .notCanonical(offset: reader.position)
        }
        try layout.keys.withUnsafeBufferPointer { keys throws(RowDefect) in
            for column in layout.columns {
                // Keys are in the order of the columns, so if this key is not the next one, it is absent.
                let key = UnsafeBufferPointer(rebasing: keys[column.keyStart..<column.keyStart + column.keyLength])
                guard reader.take(key) else {
                    buffer.appendNull()
                    continue
                }
                try appendValue(column.type, &reader, &buffer)
                _ = reader.take(UInt8(ascii: ","))
            }
        }
        try appendExtra(layout, &reader, &buffer)
        guard reader.take(UInt8(ascii: "}")) else { throw .notCanonical(offset: reader.position) }
        // Nearly all lines end here.
        if reader.next != UInt8(ascii: "}") { _ = takeKey(ServerTime.member, &reader) }
        guard reader.take(UInt8(ascii: "}")), reader.isAtEnd else {
            throw .notCanonical(offset: reader.position)
        }
    }

    @inline(__always)
    private static func appendExtra(
        _ layout: RowLayout,
        _ reader: inout CanonicalReader,
        _ buffer: inout CopyBuffer
    ) throws(RowDefect) {
        guard reader.next == UInt8(ascii: "\"") else {
            if layout.hasExtra { buffer.appendNull() }
            return
        }
        guard layout.hasExtra else { throw .notCanonical(offset: reader.position) }
        let start = reader.position
        repeat {
            guard reader.takeString() != nil, reader.take(UInt8(ascii: ":")), reader.takeValue() != nil else {
                throw .notCanonical(offset: reader.position)
            }
        } while reader.take(UInt8(ascii: ","))
        let field = buffer.beginField()
        buffer.append(1 as UInt8)
        buffer.append(UInt8(ascii: "{"))
        buffer.append(reader.bytes(start..<reader.position))
        buffer.append(UInt8(ascii: "}"))
        buffer.endField(from: field)
    }

    // MARK: Values

    @inline(__always)
    private static func appendValue(
        _ type: ColumnType,
        _ reader: inout CanonicalReader,
        _ buffer: inout CopyBuffer
    ) throws(RowDefect) {
        if reader.takeNull() { return buffer.appendNull() }
        let isFit =
            switch type {
            case .text: appendText(&reader, &buffer)
            case .bigint: reader.takeScalar().map { buffer.appendInteger($0) } ?? false
            case .doublePrecision: reader.takeScalar().map { buffer.appendDouble($0) } ?? false
            case .numeric: appendNumeric(&reader, &buffer)
            case .boolean: appendBoolean(&reader, &buffer)
            case .timestamptz: appendTimestamp(&reader, &buffer)
            case .date: appendDate(&reader, &buffer)
            case .uuid: appendUUID(&reader, &buffer)
            case .jsonb: appendJSON(&reader, &buffer)
            }
        guard isFit else { throw .unfit(type, offset: reader.position) }
    }

    @inline(__always)
    private static func appendText(_ reader: inout CanonicalReader, _ buffer: inout CopyBuffer) -> Bool {
        guard let string = reader.takeString() else { return false }
        if !string.hasEscapes {
            buffer.append(Int32(truncatingIfNeeded: string.text.count))
            buffer.append(string.text)
            return true
        }
        let field = buffer.beginField()
        guard buffer.appendUnescaped(string.text) else { return false }
        buffer.endField(from: field)
        return true
    }

    private static func appendNumeric(_ reader: inout CanonicalReader, _ buffer: inout CopyBuffer) -> Bool {
        let text = reader.next == UInt8(ascii: "\"") ? reader.takeString()?.text : reader.takeScalar()
        return text.map { buffer.appendNumeric($0) } ?? false
    }

    private static func appendBoolean(_ reader: inout CanonicalReader, _ buffer: inout CopyBuffer) -> Bool {
        guard let text = reader.takeScalar() else { return false }
        let isTrue = text.elementsEqual("true".utf8)
        guard isTrue || text.elementsEqual("false".utf8) else { return false }
        buffer.append(1 as Int32)
        buffer.append(isTrue ? 1 : 0 as UInt8)
        return true
    }

    private static func appendTimestamp(_ reader: inout CanonicalReader, _ buffer: inout CopyBuffer) -> Bool {
        guard let string = reader.takeString(), let time = Timestamp(text: string.text) else { return false }
        appendTimestamp(time.microseconds, &buffer)
        return true
    }

    @inline(__always)
    private static func appendTimestamp(_ microseconds: Int64, _ buffer: inout CopyBuffer) {
        buffer.append(8 as Int32)
        buffer.append(microseconds - epochInMicroseconds)  // a Timestamp is far from both limits of 64 bits
    }

    private static func appendDate(_ reader: inout CanonicalReader, _ buffer: inout CopyBuffer) -> Bool {
        guard let string = reader.takeString(), let date = CalendarDate(text: string.text) else { return false }
        buffer.append(4 as Int32)
        buffer.append(date.daysSince1970 - epochInDays)
        return true
    }

    private static func appendUUID(_ reader: inout CanonicalReader, _ buffer: inout CopyBuffer) -> Bool {
        guard let string = reader.takeString(), let id = EventID(text: string.text) else { return false }
        buffer.append(16 as Int32)
        buffer.append(id.high)
        buffer.append(id.low)
        return true
    }

    private static func appendJSON(_ reader: inout CanonicalReader, _ buffer: inout CopyBuffer) -> Bool {
        guard let text = reader.takeValue() else { return false }
        buffer.append(Int32(truncatingIfNeeded: text.count + 1))
        buffer.append(1 as UInt8)  // the version of jsonb's binary format
        buffer.append(text)
        return true
    }
}

/// Why an event cannot be encoded as a row; it never contains a value.
package enum RowDefect: Error, Hashable {
    /// The line is not canonical at this byte.
    case notCanonical(offset: Int)
    /// The value that ends at this byte does not fit the type of its column.
    case unfit(ColumnType, offset: Int)

    /// The reason for the refusal, for the operator.
    package var reason: String {
        switch self {
        case .notCanonical(let offset):
            "The event's line is not canonical JSON of its definition, at byte \(offset)."
        case .unfit(let type, let offset):
            "The value that ends at byte \(offset) does not fit a column of type \(type.sql)."
        }
    }
}
