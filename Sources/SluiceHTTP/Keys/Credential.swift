#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The key that a request's header states.
enum Credential {
    /// The key in an `Authorization`: the token of Bearer (RFC 6750), or the user name of Basic (RFC 7617).
    ///
    /// - Returns: `nil` if the scheme is another one, or the text is malformed.
    static func key(ofAuthorization text: String) -> [UInt8]? {
        let text = text.utf8.trimmingSpace
        let scheme = text.prefix { $0 != UInt8(ascii: " ") }
        let value = text.dropFirst(scheme.count).trimmingSpace
        guard !value.isEmpty else { return nil }
        if scheme.equalsIgnoringCase("bearer") { return Array(value) }
        guard scheme.equalsIgnoringCase("basic"), value.count <= 4 * WriteKey.maximumBytes,
            let decoded = Data(base64Encoded: Data(value))
        else { return nil }
        return Array(decoded.prefix { $0 != UInt8(ascii: ":") })
    }

    /// The value of a parameter of a query string; `nil` if it is absent or empty.
    static func parameter(_ name: StaticString, of query: some Collection<UInt8>) -> [UInt8]? {
        for parameter in query.split(separator: UInt8(ascii: "&")) {
            let parts = parameter.split(separator: UInt8(ascii: "="), maxSplits: 1)
            if parts.count == 2,
                parts[0].elementsEqual(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
            {
                return PercentCoding.decode(parts[1])
            }
        }
        return nil
    }
}
