/// A binary property list is damaged.
struct BinaryPlistDamage: Error {}

/// The objects of a binary property list, which refer to each other by number.
///
/// The file has a header (`bplist00`), the objects, a table with the offset of each, and a trailer of 32 bytes: after six bytes
/// the sizes of an offset and of a reference, then the number of objects, the number of the root and the offset of the table.
///
/// Source: `CFBinaryPList.c` of https://github.com/swiftlang/swift-corelibs-foundation.
struct BinaryPlistObjects {
    /// One object.
    enum Object {
        case boolean(Bool)
        case integer(Int64)
        /// An integer that does not fit into 64 bits with a sign.
        case unsigned(UInt64)
        case real(Double)
        /// Seconds since the beginning of 2001.
        case date(Double)
        case data
        case string(String)
        case array([Int])
        case dictionary(keys: [Int], values: [Int])
        /// A kind that no plan contains, such as a set.
        case other
    }

    private static let headerBytes = 8
    private static let trailerBytes = 32

    private let bytes: [UInt8]
    private let offsetBytes: Int
    private let referenceBytes: Int
    private let count: Int
    private let table: Int
    /// The number of the root.
    let root: Int

    /// Reads the trailer.
    init(_ bytes: [UInt8]) throws(BinaryPlistDamage) {
        guard bytes.count >= Self.headerBytes + Self.trailerBytes else { throw BinaryPlistDamage() }
        self.bytes = bytes
        let trailer = bytes.count - Self.trailerBytes
        offsetBytes = Int(bytes[trailer + 6])
        referenceBytes = Int(bytes[trailer + 7])
        func number(at offset: Int) throws(BinaryPlistDamage) -> Int {
            let number = bytes[trailer + offset..<trailer + offset + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard number < UInt64(bytes.count) else { throw BinaryPlistDamage() }
            return Int(number)
        }
        count = try number(at: 8)
        root = try number(at: 16)
        table = try number(at: 24)
        guard (1...8).contains(offsetBytes), (1...8).contains(referenceBytes), count <= trailer / offsetBytes,
            table >= Self.headerBytes, table <= trailer - count * offsetBytes
        else { throw BinaryPlistDamage() }
    }

    /// Reads an object by its number.
    func object(_ number: Int) throws(BinaryPlistDamage) -> Object {
        guard number < count else { throw BinaryPlistDamage() }
        let position = try self.number(at: table + number * offsetBytes, offsetBytes)
        guard position >= Self.headerBytes, position < table else { throw BinaryPlistDamage() }
        let (kind, low) = (bytes[position] >> 4, Int(bytes[position] & 0x0F))
        switch kind {
        case 0x0 where low == 8 || low == 9: return .boolean(low == 9)
        case 0x1: return try integer(at: position + 1, 1 << low)
        case 0x2 where low == 2:
            let real = Double(Float(bitPattern: UInt32(try word(at: position + 1, 4))))
            return real.isFinite ? .real(real) : .other
        case 0x2 where low == 3:
            let real = Double(bitPattern: try word(at: position + 1, 8))
            return real.isFinite ? .real(real) : .other
        case 0x3 where low == 3:
            let seconds = Double(bitPattern: try word(at: position + 1, 8))
            return seconds.isFinite ? .date(seconds) : .other
        case 0x4, 0x5, 0x6, 0xA, 0xD: break
        default: return .other
        }
        let (length, start) = try length(low, after: position)
        switch kind {
        case 0x4:
            _ = try slice(start, length)
            return .data
        case 0x5:
            let text = try slice(start, length)
            guard text.allSatisfy({ $0 < 0x80 }) else { throw BinaryPlistDamage() }
            return .string(String(decoding: text, as: UTF8.self))
        case 0x6:
            guard length <= bytes.count / 2 else { throw BinaryPlistDamage() }
            let text = Array(try slice(start, 2 * length))
            let units = (0..<length).map { UInt16(text[2 * $0]) << 8 | UInt16(text[2 * $0 + 1]) }
            guard let string = String(validating: units, as: UTF16.self) else { throw BinaryPlistDamage() }
            return .string(string)
        case 0xA:
            return .array(try references(at: start, length))
        default:
            let all = try references(at: start, 2 * length)
            return .dictionary(keys: Array(all[..<length]), values: Array(all[length...]))
        }
    }

    /// The length of a string, array or dictionary, and where its contents begin.
    private func length(_ low: Int, after position: Int) throws(BinaryPlistDamage) -> (length: Int, start: Int) {
        guard low == 0x0F else { return (low, position + 1) }
        // An integer object follows.
        let size = try slice(position + 1, 1).first ?? 0
        guard size >> 4 == 0x1, size & 0x0F <= 3 else { throw BinaryPlistDamage() }
        let count = 1 << Int(size & 0x0F)
        return (try number(at: position + 2, count), position + 2 + count)
    }

    private func integer(at position: Int, _ size: Int) throws(BinaryPlistDamage) -> Object {
        switch size {
        case 1, 2, 4: return .integer(Int64(try word(at: position, size)))
        case 8: return .integer(Int64(bitPattern: try word(at: position, 8)))
        case 16:
            let (high, low) = (try word(at: position, 8), try word(at: position + 8, 8))
            if high == 0 { return low <= UInt64(Int64.max) ? .integer(Int64(low)) : .unsigned(low) }
            guard high == .max, low > UInt64(Int64.max) else { return .other }
            return .integer(Int64(bitPattern: low))
        default: throw BinaryPlistDamage()
        }
    }

    private func references(at start: Int, _ count: Int) throws(BinaryPlistDamage) -> [Int] {
        guard count <= bytes.count / referenceBytes else { throw BinaryPlistDamage() }
        _ = try slice(start, count * referenceBytes)
        var references: [Int] = []
        references.reserveCapacity(count)
        for index in 0..<count { references.append(try number(at: start + index * referenceBytes, referenceBytes)) }
        return references
    }

    /// An unsigned number that is no greater than the file.
    private func number(at position: Int, _ size: Int) throws(BinaryPlistDamage) -> Int {
        let number = try word(at: position, size)
        guard number <= UInt64(bytes.count) else { throw BinaryPlistDamage() }
        return Int(number)
    }

    private func word(at position: Int, _ size: Int) throws(BinaryPlistDamage) -> UInt64 {
        try slice(position, size).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func slice(_ start: Int, _ count: Int) throws(BinaryPlistDamage) -> ArraySlice<UInt8> {
        guard count <= bytes.count - start else { throw BinaryPlistDamage() }
        return bytes[start..<start + count]
    }
}
