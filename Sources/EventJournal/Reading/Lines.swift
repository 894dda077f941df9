extension UnsafeRawBufferPointer {
    /// The lines of a commit behind its first ones, as for a reader that begins in the middle of it.
    package func droppingLines(_ count: Int) -> UnsafeRawBufferPointer {
        var rest = self
        for _ in 0..<count {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { break }
            rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
        }
        return rest
    }
}
