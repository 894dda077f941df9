import CXXHash
import EventModel

/// Where the id of an event comes from that brings none.
public enum EventIdentity: Sendable, Hashable {
    /// A UUID of version 7, made when the event arrives.
    case assigned
    /// A UUID of version 8 over the source's name, the number of the line and its bytes, led by the event's
    /// milliseconds: the same file gives the same ids however often it is read, and two equal lines stay two events.
    ///
    /// An event without a time of its own is led by zeros, because its time of arrival is another each time.
    case derived(source: String)
}

/// Derives ids from lines.
///
/// The digest is XXH3's of 128 bits (stable since xxHash 0.8.0). It need not withstand an attacker: whoever can choose
/// a line can also state its id.
struct LineDigest {
    private let seed: UInt64

    init(source: String) {
        var source = source
        seed = source.withUTF8 { XXH3_64bits($0.baseAddress, $0.count) }
    }

    func id(ofLine line: Int, bytes: UnsafeRawBufferPointer, at time: Timestamp?) -> EventID {
        let text = XXH3_128bits_withSeed(bytes.baseAddress, bytes.count, seed)
        let whole = withUnsafeBytes(of: (text.high64, text.low64, UInt64(truncatingIfNeeded: line))) {
            XXH3_128bits_withSeed($0.baseAddress, $0.count, seed)
        }
        return EventID(
            version8At: time ?? Timestamp(microseconds: 0),
            digestHigh: whole.high64,
            digestLow: whole.low64
        )
    }
}
