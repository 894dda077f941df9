import Foundation

/// The limit on the files, sockets included, that the process may have open.
enum OpenFiles {
    /// Raises the soft limit to the hard one.
    ///
    /// The usual soft limit of 1,024 is for programs that use `select`. Where the system refuses, the limit stays what it
    /// is, and the server says how many connections that allows.
    static func raiseLimit() {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        #if canImport(Darwin)
        // The kernel takes no more than this, whatever the hard limit says.
        limit.rlim_cur = min(limit.rlim_max, rlim_t(OPEN_MAX))
        #else
        limit.rlim_cur = limit.rlim_max
        #endif
        _ = setrlimit(resource, &limit)
    }
}
