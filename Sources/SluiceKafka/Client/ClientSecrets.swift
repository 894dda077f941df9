#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What a client reads only when it is created: its properties, and the files with keys and certificates that they name.
///
/// After a failure, a difference means that the secrets were replaced, so that a new client may succeed.
struct ClientSecrets: Equatable {
    private let properties: [String: String]
    private let files: [String: [UInt8]]

    /// Reads the files that the properties name; a file that cannot be read counts as empty, and librdkafka reports it.
    init(_ properties: [String: String]) {
        self.properties = properties
        files = properties.filter { $0.key.hasPrefix("ssl.") && $0.key.hasSuffix(".location") }
            .mapValues(Self.contents)
    }

    /// The first mebibyte of a file; empty for a folder or a device.
    private static func contents(of path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        let capacity = 1 << 20
        return [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            while count < capacity {
                let added = read(descriptor, buffer.baseAddress.map { $0 + count }, capacity - count)
                guard added > 0 else { return }
                count += added
            }
        }
    }
}
