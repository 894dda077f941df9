/// Another Sluice that gets events, and how it is reached.
public struct SluiceConfiguration: Sendable {
    /// The tracker's default name.
    public static let defaultName = "sluice"

    /// The name that refers to the tracker in the plan.
    ///
    /// Default: `sluice`.
    public var name: String
    /// The other Sluice, and how requests get there; the address has no path, unless a proxy before it needs one.
    public var receiver: HTTPReceiver

    /// Creates a configuration with the defaults of everything else.
    public init(url: String, name: String = Self.defaultName) {
        self.name = name
        receiver = HTTPReceiver(url: url)
    }
}
