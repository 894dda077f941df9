extension Timestamp {
    /// Reads an RFC 3339 `date-time`, as `TimestampReader` does; anything else is `nil`.
    public init?(text: UnsafeRawBufferPointer) {
        var reader = TimestampReader()
        guard let time = reader.read(text) else { return nil }
        self = time
    }

    /// Reads an RFC 3339 `date-time`, as `TimestampReader` does; anything else is `nil`.
    public init?(_ text: String) {
        var text = text
        guard let time = text.withUTF8({ Timestamp(text: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = time
    }
}
