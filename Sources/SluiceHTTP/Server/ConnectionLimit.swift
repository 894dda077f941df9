#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// How many connections may be open at one time.
package struct ConnectionLimit: Sendable, Hashable {
    /// File descriptors that are kept for the journal, the trackers, and connections that are refused.
    package static let reservedDescriptors = 256 + LiveConnections.maximumRefusals

    /// The limit.
    package let connections: Int
    /// How many connections the descriptors of the process allow; less than 1 where there are not even enough for the
    /// reserve.
    package let allowedByDescriptors: Int

    /// Applies what was set, or else what memory and descriptors allow; at least 1.
    package init(stated: Int?, descriptors: Int, memory: Int) {
        allowedByDescriptors = descriptors - Self.reservedDescriptors
        connections = stated ?? max(1, min(allowedByDescriptors, memory / 3 * 2 / MemoryBudget.bytesPerConnection))
    }

    /// How many file descriptors this process may have; `Int.max` where there is no limit.
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
