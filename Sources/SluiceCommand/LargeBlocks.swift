import Foundation

/// Memory blocks of a MiB and more, which is what the bodies of requests take.
enum LargeBlocks {
    private static let minimumBytes: CInt = 1 << 20

    /// Lets the allocator give each such block back to the system as soon as it is free.
    ///
    /// glibc's keeps blocks of the sizes that were freed before, up to 32 MiB, and so a process keeps up to twice as much as
    /// `http.maximumBufferedBytes` allows. Does nothing with another allocator.
    static func giveBack() {
        #if canImport(Glibc)
        typealias SetOption = @convention(c) (_ option: CInt, _ value: CInt) -> CInt
        // Glibc's module lacks malloc.h.
        let mmapThreshold: CInt = -3
        guard let function = dlsym(nil, "mallopt") else { return }
        // Safe: the function has had this type since it exists.
        _ = unsafeBitCast(function, to: SetOption.self)(mmapThreshold, minimumBytes)
        #endif
    }
}
