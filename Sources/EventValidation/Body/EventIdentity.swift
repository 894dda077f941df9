import CXXHash
import EventModel

/// How an event gets its id if it arrives without one.
public struct EventIdentity: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        case assigned
        case derived(source: String)
        case derivedFromContent
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

    /// A UUID of version 8 derived from the line and all lines before it, with the event's milliseconds in front.
    ///
    /// So an id does not depend on the name of a file, on its compression, or on lines that are appended to it; and equal lines
    /// have different ids, unless all lines before them are equal, too. The lines have to be checked in their order. An event
    /// without a time has zeros in front.
    package static let derivedFromContent = Self(kind: .derivedFromContent)

    /// The name of the source that ids are derived from; `nil` if they are not derived from one.
    public var source: String? {
        if case .derived(let source) = kind { source } else { nil }
    }

    /// `assigned`, `derived` with the name of the source, or `derivedFromContent`.
    public var description: String {
        switch kind {
        case .assigned: "assigned"
        case .derivedFromContent: "derivedFromContent"
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
    /// The digest of all lines so far; `nil` if an id is derived from a source and a line's number.
    private var content: XXH128_hash_t?

    /// `nil` if ids are not derived.
    init?(_ identity: EventIdentity) {
        switch identity.kind {
        case .assigned: return nil
        case .derived(var source): seed = source.withUTF8 { XXH3_64bits($0.baseAddress, $0.count) }
        case .derivedFromContent:
            seed = 0
            content = XXH128_hash_t()
        }
    }

    /// Adds the next line, whether or not its event needs an id.
    ///
    /// A line that is longer than an event may be counts only up to that length, because a reader may have cut it off.
    mutating func add(_ line: UnsafeRawBufferPointer) {
        guard let before = content else { return }
        let text = XXH3_128bits(line.baseAddress, min(line.count, EventValidator.maximumEventBytes + 1))
        content = withUnsafeBytes(of: (before.high64, before.low64, text.high64, text.low64)) {
            XXH3_128bits($0.baseAddress, $0.count)
        }
    }

    /// The id of an event in the line that was added last.
    func id(ofLine line: Int, bytes: UnsafeRawBufferPointer, at time: Timestamp?) -> EventID {
        let whole = content ?? digest(ofLine: line, bytes)
        return EventID(
            version8At: time ?? Timestamp(microseconds: 0),
            digestHigh: whole.high64,
            digestLow: whole.low64
        )
    }
    private func digest(ofLine line: Int, _ bytes: UnsafeRawBufferPointer) -> XXH128_hash_t {
        let text = XXH3_128bits_withSeed(bytes.baseAddress, bytes.count, seed)
        return withUnsafeBytes(of: (text.high64, text.low64, UInt64(truncatingIfNeeded: line))) {
            XXH3_128bits_withSeed($0.baseAddress, $0.count, seed)
        }
    }
}
