#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The limit on open connections.
package struct ConnectionLimit: Sendable, Hashable {
    /// File descriptors reserved for the journal, the trackers, and refused connections.
    package static let reservedDescriptors = 256 + LiveConnections.maximumRefusals

    /// The limit.
    package let connections: Int
    /// The number of connections that the process's limit on descriptors allows; less than 1 if it does not even cover the
    /// reserve.
    package let allowedByDescriptors: Int

    /// Uses the stated limit, or else what memory and descriptors allow, and at least 1.
    package init(stated: Int?, descriptors: Int, memory: Int) {
        allowedByDescriptors = descriptors - Self.reservedDescriptors
        connections = stated ?? max(1, min(allowedByDescriptors, memory / 3 * 2 / MemoryBudget.bytesPerConnection))
    }

    /// The process's limit on file descriptors; `Int.max` if there is none.
    static var descriptors: Int {
        var limit = rlimit()
        #if canImport(Glibc)
        let result = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #else
        let result = getrlimit(RLIMIT_NOFILE, &limit)
        #endif
        return result == 0 ? Int(clamping: limit.rlim_cur) : Int.max
    }
}
