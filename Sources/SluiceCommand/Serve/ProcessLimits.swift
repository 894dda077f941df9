import Foundation

/// The limits of the process that a server changes when it starts.
enum ProcessLimits {
    /// Raises the soft limit on open files, which include connections, to the hard limit.
    ///
    /// The usual soft limit of 1,024 is for programs that use `select`. If the system refuses, the limit stays, and the
    /// server logs how many connections it allows.
    static func raiseOpenFileLimit() {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        #if canImport(Darwin)
        // The kernel accepts no more than this, whatever the hard limit is.
        limit.rlim_cur = min(limit.rlim_max, rlim_t(OPEN_MAX))
        #else
        limit.rlim_cur = limit.rlim_max
        #endif
        _ = setrlimit(resource, &limit)
    }

    /// Makes the allocator return each block of 1 MiB or more to the system as soon as it is freed.
    ///
    /// By default glibc keeps freed blocks of up to 32 MiB for later use, so that a process holds up to twice as much as
    /// `http.maximumBufferedBytes` allows for request bodies. Does nothing with another allocator.
    static func returnFreedBlocks() {
        setAllocatorOption(mmapThreshold, to: 1 << 20)
    }

    /// Makes the allocator keep freed blocks of up to 32 MiB, because batches of the same size follow each other.
    ///
    /// By default glibc returns much of each batch's memory to the system, which zeroes it page by page for the next one. Each arena
    /// (a heap that some threads share) keeps what it needed at most, so their number is limited. Does nothing with another
    /// allocator.
    static func keepFreedBlocks() {
        setAllocatorOption(mmapThreshold, to: 32 << 20)
        setAllocatorOption(trimThreshold, to: 256 << 20)
        setAllocatorOption(arenaMaximum, to: 4)
    }

    // Swift's Glibc module does not include malloc.h, which declares these constants and `mallopt`.
    private static let trimThreshold: CInt = -1
    private static let mmapThreshold: CInt = -3
    private static let arenaMaximum: CInt = -8

    private static func setAllocatorOption(_ option: CInt, to value: CInt) {
        #if canImport(Glibc)
        typealias SetOption = @convention(c) (_ option: CInt, _ value: CInt) -> CInt
        guard let function = dlsym(nil, "mallopt") else { return }
        // Safe: glibc has never changed the type of this function.
        _ = unsafeBitCast(function, to: SetOption.self)(option, value)
        #endif
    }
}
