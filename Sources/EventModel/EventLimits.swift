/// The limits of an event, whatever its plan; the server and the typed events of services and apps check them.
///
/// They are inlinable because the check of an event compares with them for each value.
@_spi(CanonicalJSON)
public enum EventLimits {
    /// The maximum size of one event as it is sent, in bytes.
    @inlinable
    public static var maximumBytes: Int { 1 << 20 }

    /// The maximum depth of nested objects and arrays, counting the event itself.
    @inlinable
    public static var maximumDepth: Int { 64 }

    /// The maximum depth in a violation's words.
    public static var depthInWords: String { "at most \(maximumDepth) levels of nesting" }

    /// The maximum number of violations that are listed for an event.
    @inlinable
    public static var maximumViolations: Int { 10 }
}
