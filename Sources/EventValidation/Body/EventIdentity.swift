import CXXHash
import EventModel

/// How an event gets its id if it arrives without one.
public struct EventIdentity: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        case assigned
        case derived(source: String)
    }

    package let kind: Kind

    /// A new UUID of version 7, generated when the event arrives.
    public static let assigned = Self(kind: .assigned)

    /// A UUID of version 8 derived from the name of the source, the line's number and its bytes, with the event's milliseconds
    /// in front.
    ///
    /// The same file gives the same ids however often it is read, and two equal lines remain two events. An event without a time
    /// has zeros in front, because its time of arrival differs each time.
    public static func derived(source: String) -> Self { Self(kind: .derived(source: source)) }

    /// The name of the source that ids are derived from; `nil` for `assigned`.
    public var source: String? {
        if case .derived(let source) = kind { source } else { nil }
    }

    /// `assigned`, or `derived` with the name of the source.
    public var description: String {
        switch kind {
        case .assigned: "assigned"
        case .derived(let source): "derived(source: \(source))"
        }
    }
}

/// Derives ids from lines.
///
/// The digest is XXH3 with 128 bits, which is stable since xxHash 0.8.0. It need not be secure, because a sender who can choose a
/// line can also state its id.
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
