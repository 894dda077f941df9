/// A tracker's cursor, its offset: the sequence number of the first event that it still needs, in a file of its own.
///
/// The file has 128 slots, each with a checksum, which are written in rotation and synced before a slot is reused. So a crash
/// while one slot is written leaves others intact. If a crash sets a cursor back, the tracker gets some events again, which
/// at-least-once delivery permits.
package struct CursorFile {
    private static let slotBytes = 32
    private static let slotCount = 128
    private static let magic: UInt32 = 0x0A43_4C53

    private let file: any JournalFile
    private var generation: UInt64 = 0
    /// The last generation that was synced.
    private var syncedGeneration: UInt64 = 0
    /// The sequence number of the first event that the tracker still needs; `nil` if it never had any.
    package private(set) var sequence: UInt64?
    /// The last checkpoint that the tracker is known to have stored in its destination; `nil` if it never stored one.
    ///
    /// The checkpoint that the tracker reads at its start is compared with it. The cursor may be ahead of it by events that were
    /// refused, or that were not for this tracker.
    package private(set) var checkpoint: UInt64?

    /// Opens a tracker's cursor, which is created if necessary.
    package init(_ files: any FileSystem, tracker: String) throws(FileError) {
        file = try files.open(Self.name(ofTracker: tracker), creates: true)
        try files.syncFolder()
        try read()
    }

    /// Opens an existing cursor by the name of its file.
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
        // If no slot is valid, repeating all events is better than losing some.
        if count > 0, sequence == nil { sequence = 0 }
    }

    /// Moves the cursor, and syncs it if `syncs` is true.
    package mutating func move(to sequence: UInt64, checkpoint: UInt64? = nil, syncs: Bool) throws(FileError) {
        let next = generation &+ 1
        if next &- syncedGeneration >= UInt64(Self.slotCount) { try sync() }
        let offset = Int(next % UInt64(Self.slotCount)) * Self.slotBytes
        try withUnsafeTemporaryAllocation(byteCount: Self.slotBytes, alignment: 8) { bytes throws(FileError) in
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            bytes.storeBytes(of: Self.magic.littleEndian, as: UInt32.self)
            bytes.storeBytes(of: next.littleEndian, toByteOffset: 8, as: UInt64.self)
            bytes.storeBytes(of: sequence.littleEndian, toByteOffset: 16, as: UInt64.self)
            // In two former gaps of the slot, so that files of versions without checkpoints read as having none.
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

extension CursorFile {
    private static let suffix = ".cursor"

    /// The name of a tracker's cursor file.
    package static func name(ofTracker tracker: String) -> String {
        spelling(ofTracker: tracker) + suffix
    }

    /// A tracker's name as a part of a path: in lower case, with characters other than letters, digits and hyphens as codes.
    package static func spelling(ofTracker tracker: String) -> String {
        let spelt = tracker.lowercased().unicodeScalars.map { scalar in
            switch scalar {
            case "a"..."z", "0"..."9", "-": String(scalar)
            default: "_" + String(scalar.value, radix: 16) + "_"
            }
        }
        return spelt.joined()
    }

    /// The name, in lower case, of the tracker whose cursor a file is; `nil` if it is not a cursor.
    package static func tracker(ofName name: String) -> String? {
        guard name.hasSuffix(suffix) else { return nil }
        // A code is enclosed in underscores, so every second part is a code.
        let parts = name.dropLast(suffix.count).split(separator: "_", omittingEmptySubsequences: false)
        var tracker = String.UnicodeScalarView()
        for (index, part) in parts.enumerated() {
            if index % 2 == 0 {
                tracker.append(contentsOf: part.unicodeScalars)
            } else if let scalar = UInt32(part, radix: 16).flatMap(Unicode.Scalar.init) {
                tracker.append(scalar)
            }
        }
        let text = String(tracker)
        return self.name(ofTracker: text) == name ? text : nil
    }

    /// Removes a tracker's cursor; false if it has none.
    package static func forget(tracker: String, in files: any FileSystem) throws(FileError) -> Bool {
        let name = name(ofTracker: tracker)
        guard try files.names().contains(name) else { return false }
        try files.remove(name)
        try files.syncFolder()
        return true
    }
}
