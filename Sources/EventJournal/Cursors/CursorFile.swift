/// How far one tracker has got: the number of the first event that it still needs, in a file of its own.
///
/// 128 slots are written by turns, each with a checksum, and synced before the turn comes round: so there is always one
/// that a crash in the middle of another leaves alone. A cursor that a crash sets back makes its tracker get some events
/// again, which is what it was promised.
package struct CursorFile {
    private static let slotBytes = 32
    private static let slotCount = 128
    private static let magic: UInt32 = 0x0A43_4C53

    private let file: any JournalFile
    private var generation: UInt64 = 0
    /// The last generation that is known to survive a loss of power.
    private var syncedGeneration: UInt64 = 0
    /// The number of the first event that the tracker still needs; `nil` where it never got any.
    package private(set) var sequence: UInt64?
    /// The last checkpoint that the tracker is known to have stored itself; `nil` where it never stored one.
    ///
    /// What the tracker says at its start is compared with it: the cursor may be ahead of it, by events that were none of
    /// the tracker's, or refused.
    package private(set) var checkpoint: UInt64?

    /// Opens a tracker's cursor, or makes it.
    package init(_ files: any FileSystem, tracker: String) throws(FileError) {
        file = try files.open(Self.name(ofTracker: tracker), creates: true)
        try files.syncFolder()
        try read()
    }

    /// Opens a cursor that is there, by the name of its file, and makes nothing.
    package init(_ files: any FileSystem, existing name: String) throws(FileError) {
        file = try files.open(name, creates: false)
        try read()
    }

    private mutating func read() throws(FileError) {
        let count = try withUnsafeTemporaryAllocation(
            byteCount: Self.slotCount * Self.slotBytes,
            alignment: 8
        ) { bytes throws(FileError) in
            let count = try file.read(into: bytes, at: 0)
            for start in stride(from: 0, to: count / Self.slotBytes * Self.slotBytes, by: Self.slotBytes) {
                take(UnsafeRawBufferPointer(rebasing: bytes[start..<start + Self.slotBytes]))
            }
            return count
        }
        // Where nothing of it can be read, everything again is better than nothing.
        if count > 0, sequence == nil { sequence = 0 }
    }

    /// Moves the cursor; where `syncs` says so, it survives a loss of power from here on.
    package mutating func move(to sequence: UInt64, checkpoint: UInt64? = nil, syncs: Bool) throws(FileError) {
        let next = generation &+ 1
        if next &- syncedGeneration >= UInt64(Self.slotCount) { try sync() }
        let offset = Int(next % UInt64(Self.slotCount)) * Self.slotBytes
        try withUnsafeTemporaryAllocation(byteCount: Self.slotBytes, alignment: 8) { bytes throws(FileError) in
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            bytes.storeBytes(of: Self.magic.littleEndian, as: UInt32.self)
            bytes.storeBytes(of: next.littleEndian, toByteOffset: 8, as: UInt64.self)
            bytes.storeBytes(of: sequence.littleEndian, toByteOffset: 16, as: UInt64.self)
            // In the two gaps of the slot, so that files from before checkpoints are read as having none.
            let (high, low) = (UInt32((checkpoint ?? 0) >> 32), UInt32(truncatingIfNeeded: checkpoint ?? 0))
            bytes.storeBytes(of: high.littleEndian, toByteOffset: 4, as: UInt32.self)
            bytes.storeBytes(of: low.littleEndian, toByteOffset: 24, as: UInt32.self)
            let checksum = Checksum.of(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<28]))
            bytes.storeBytes(of: checksum.littleEndian, toByteOffset: 28, as: UInt32.self)
            try file.write(UnsafeRawBufferPointer(bytes), at: offset)
        }
        generation = next
        self.sequence = sequence
        self.checkpoint = checkpoint
        if syncs { try sync() }
    }

    private mutating func sync() throws(FileError) {
        try file.sync()
        syncedGeneration = generation
    }

    private mutating func take(_ slot: UnsafeRawBufferPointer) {
        let checksum = UInt32(littleEndian: slot.loadUnaligned(fromByteOffset: 28, as: UInt32.self))
        let found = UInt64(littleEndian: slot.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        guard
            UInt32(littleEndian: slot.loadUnaligned(as: UInt32.self)) == Self.magic,
            checksum == Checksum.of(UnsafeRawBufferPointer(rebasing: slot[..<28])),
            found > generation,
            slot.loadUnaligned(fromByteOffset: 16, as: UInt64.self).littleEndian <= FrameHeader.maximumSequence
        else { return }
        generation = found
        sequence = UInt64(littleEndian: slot.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        let high = UInt32(littleEndian: slot.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        let low = UInt32(littleEndian: slot.loadUnaligned(fromByteOffset: 24, as: UInt32.self))
        let stored = UInt64(high) << 32 | UInt64(low)
        // No event comes before the first one, so nobody stores a checkpoint of 0.
        checkpoint = stored > 0 ? stored : nil
    }
}
