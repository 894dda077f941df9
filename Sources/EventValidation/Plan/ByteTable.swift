/// A fixed set of byte strings, each with an ordinal: event names, the keys of an object, or the values of an enumeration.
///
/// It points into memory that its `CompiledPlan` owns, so a lookup changes no reference count. Threads that check events share a
/// plan, and would wait for each other to count its references.
struct ByteTable: BitwiseCopyable {
    struct Name: BitwiseCopyable {
        /// `ByteBuilder.padding` more bytes after the name are readable.
        let start: UnsafeRawPointer
        let count: Int
    }

    /// The strings, by ordinal.
    let names: UnsafePointer<Name>
    let count: Int
    /// The hash table: ordinals plus one, 0 if empty; at least twice as many as there are names.
    private let slots: UnsafePointer<UInt32>
    private let mask: Int

    init(_ strings: [[UInt8]], in arena: PlanArena) {
        names = arena.allocate(strings.map { Name(start: arena.allocate(text: $0), count: $0.count) })
        count = strings.count
        var size = 2
        while size < strings.count * 2 { size *= 2 }
        mask = size - 1
        var slots = [UInt32](repeating: 0, count: size)
        for ordinal in strings.indices {
            let name = names[ordinal]
            var slot = Self.hash(name.start, name.count) & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = UInt32(ordinal) + 1
        }
        self.slots = arena.allocate(slots)
    }

    /// The ordinal of `key`, or -1; at least 8 more bytes after the key must be readable.
    @inline(__always)
    func ordinal(of key: UnsafeRawBufferPointer) -> Int {
        guard let start = key.baseAddress else { return -1 }
        var slot = Self.hash(start, key.count) & mask
        while true {
            let candidate = Int(slots[slot]) - 1
            if candidate < 0 || isName(candidate, start, key.count) { return candidate }
            slot = (slot + 1) & mask
        }
    }

    /// The ordinal of `key`, or -1; tries `guess` first, because senders mostly keep to the plan's order.
    @inline(__always)
    func ordinal(of key: UnsafeRawBufferPointer, guess: Int) -> Int {
        isName(guess, key) ? guess : search(key)
    }

    @inline(never)
    private func search(_ key: UnsafeRawBufferPointer) -> Int { ordinal(of: key) }

    /// Whether `key` is the string with this ordinal, which may be `count`; at least 8 more bytes after the key must be
    /// readable.
    @inline(__always)
    func isName(_ ordinal: Int, _ key: UnsafeRawBufferPointer) -> Bool {
        guard ordinal < count, let start = key.baseAddress else { return false }
        return isName(ordinal, start, key.count)
    }

    @inline(__always)
    private func isName(_ ordinal: Int, _ start: UnsafeRawPointer, _ count: Int) -> Bool {
        let name = names[ordinal]
        return name.count == count && Self.areEqual(name.start, start, count)
    }

    /// Compares in words; at least 8 more bytes after both must be readable.
    @inline(__always)
    static func areEqual(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
        guard count >= 8 else {
            return (load(left) ^ load(right)) & (1 &<< UInt64(count &* 8) &- 1) == 0
        }
        // The last word overlaps the one before it.
        let last = count &- 8
        var position = 0
        while position < last {
            if load(left + position) != load(right + position) { return false }
            position &+= 8
        }
        return load(left + last) == load(right + last)
    }

    /// Mixes the length and the first, middle and last eight bytes.
    ///
    /// The names come from the plan, so no sender can choose them to collide, and a collision costs only one comparison.
    @inline(__always)
    private static func hash(_ start: UnsafeRawPointer, _ count: Int) -> Int {
        var word: UInt64
        if count >= 8 {
            let last = load(start + count - 8)
            word = load(start) ^ (last << 23 | last >> 41)
            if count > 16 { word ^= load(start + count / 2 - 4) &* 0xA24B_AED4_963E_E407 }
        } else {
            word = load(start) & (1 << UInt64(count * 8) - 1)
        }
        word = (word ^ UInt64(count) &* 0x9FB2_1C65_1E98_DF25) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: word >> 33)
    }

    @inline(__always)
    private static func load(_ pointer: UnsafeRawPointer) -> UInt64 {
        pointer.loadUnaligned(as: UInt64.self)
    }
}

extension ByteTable.Name {
    /// The bytes; `ByteBuilder.padding` more after them are readable.
    @inline(__always)
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }
}

extension ByteTable {
    /// One of the strings, for a message.
    func text(of ordinal: Int) -> String {
        String(decoding: names[ordinal].bytes, as: UTF8.self)
    }

    /// The ordinal of `key`, or -1, and the number of strings that it was compared with; at least 8 more bytes after the key must
    /// be readable.
    func lookUp(_ key: UnsafeRawBufferPointer) -> (ordinal: Int, comparisons: Int) {
        guard let start = key.baseAddress else { return (-1, 0) }
        var slot = Self.hash(start, key.count) & mask
        var comparisons = 0
        while slots[slot] != 0 {
            comparisons += 1
            let candidate = Int(slots[slot]) - 1
            if isName(candidate, start, key.count) { return (candidate, comparisons) }
            slot = (slot + 1) & mask
        }
        return (-1, comparisons)
    }
}
