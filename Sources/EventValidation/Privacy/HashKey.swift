/// The secret key of the hashes that replace the values of properties with the sensitivity `hash`.
///
/// Whoever has the key can find out the value behind a hash by hashing all likely values. With another key, the same value has
/// another hash, so a change of the key separates old from new data.
public struct HashKey: Sendable {
    /// The minimum length of a key, in bytes.
    public static let minimumBytes = 16

    let bytes: [UInt8]

    /// Makes a key; `nil` if it has fewer than `minimumBytes`.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.minimumBytes else { return nil }
        self.bytes = bytes
    }
}

extension HashKey: CustomStringConvertible, CustomReflectable {
    /// The length; never the key.
    public var description: String { "a key of \(bytes.count) bytes" }

    /// No children, so that a dump does not show the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
