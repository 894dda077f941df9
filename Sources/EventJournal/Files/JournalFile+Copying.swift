extension JournalFile {
    private static var pieceBytes: Int { 1 << 20 }

    /// Copies a range of its bytes to a place in another file.
    ///
    /// - Throws: Where one of them cannot be used, or this one ends before the range does.
    func copy(_ range: Range<Int>, to other: any JournalFile, at offset: Int) throws(FileError) {
        let size = min(Self.pieceBytes, range.count)
        guard size > 0 else { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { buffer.deallocate() }
        var position = 0
        while position < range.count {
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(size, range.count - position)])
            let read = try self.read(into: piece, at: range.lowerBound + position)
            guard read > 0 else { throw FileError("copy", ".", PosixErrors.input) }
            try other.write(UnsafeRawBufferPointer(rebasing: piece[..<read]), at: offset + position)
            position += read
        }
    }
}
