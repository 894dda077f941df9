import SluicePostgres
import TestCases

/// A row of PostgreSQL's binary COPY, read as its documentation describes the format (COPY, "Binary Format").
struct CopyRow {
    /// The bytes of each field; `nil` for a null.
    let fields: [[UInt8]?]

    /// Reads a row; `nil` if the bytes are not exactly one.
    init?(_ bytes: [UInt8]) {
        var reader = BigEndianReader(bytes[...])
        guard let count: Int16 = reader.next(), count >= 0 else { return nil }
        var fields: [[UInt8]?] = []
        for _ in 0..<count {
            guard let size: Int32 = reader.next(), size >= -1 else { return nil }
            guard size >= 0 else {
                fields.append(nil)
                continue
            }
            guard let field = reader.bytes(Int(size)) else { return nil }
            fields.append(field)
        }
        guard reader.isAtEnd else { return nil }
        self.fields = fields
    }
}

/// A value as PostgreSQL receives it.
enum CopyValue: Equatable {
    case null
    /// The bytes, because strings are equal whose bytes differ.
    case text([UInt8])
    case integer(Int64)
    /// The bits, so that zeros differ by their signs.
    case double(UInt64)
    case decimal(PlainDecimal)
    case boolean(Bool)
    /// Microseconds since 1970.
    case time(Int64)
    /// Days since 1970.
    case day(Int)
    case uuid(String)
    case json(ReferenceJSON)

    /// Decodes a field; `nil` if it is none of the type.
    init?(_ bytes: [UInt8]?, _ type: ColumnType) {
        guard let bytes else {
            self = .null
            return
        }
        var reader = BigEndianReader(bytes[...])
        switch type {
        case .text:
            guard String(validating: bytes, as: UTF8.self) != nil, !bytes.contains(0) else { return nil }
            self = .text(bytes)
            return
        case .jsonb:
            guard bytes.first == 1, case .value(let json) = ReferenceParser.parse(Array(bytes.dropFirst())) else {
                return nil
            }
            self = .json(json)
            return
        case .bigint:
            guard let number: Int64 = reader.next() else { return nil }
            self = .integer(number)
        case .doublePrecision:
            guard let bits: UInt64 = reader.next() else { return nil }
            self = .double(bits)
        case .boolean:
            guard let byte: UInt8 = reader.next(), byte <= 1 else { return nil }
            self = .boolean(byte == 1)
        case .timestamptz:
            guard let microseconds: Int64 = reader.next() else { return nil }
            self = .time(microseconds + Int64(Self.epochInDays) * 86_400_000_000)
        case .date:
            guard let days: Int32 = reader.next() else { return nil }
            self = .day(Int(days) + Self.epochInDays)
        case .uuid:
            guard let id = reader.bytes(16) else { return nil }
            let digits = id.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
            self = .uuid(digits)
        case .numeric:
            guard let decimal = PlainDecimal(binary: &reader) else { return nil }
            self = .decimal(decimal)
        }
        guard reader.isAtEnd else { return nil }
    }

    /// The days from 1970 to 2000, where PostgreSQL begins to count.
    private static let epochInDays = ReferenceCalendar.day(year: 2000, month: 1, day: 1)

    /// What a column of the type has to receive for a value of a canonical line; `nil` if the value does not fit.
    init?(of value: ReferenceJSON?, _ type: ColumnType) {
        switch (type, value) {
        case (_, nil), (_, .null): self = .null
        case (.text, .string(let points)): self = .text(Array(String(codePoints: points).utf8))
        case (.bigint, .number(let text)):
            guard let number = Int64(text) else { return nil }
            self = .integer(number)
        case (.doublePrecision, .number(let text)):
            guard let number = Double(text) else { return nil }
            self = .double(number.bitPattern)
        case (.numeric, .number(let text)): self = .decimal(PlainDecimal(text))
        case (.numeric, .string(let points)): self = .decimal(PlainDecimal(String(codePoints: points)))
        case (.boolean, .boolean(let flag)): self = .boolean(flag)
        case (.timestamptz, .string(let points)):
            guard let time = ReferenceTime(String(codePoints: points)) else { return nil }
            self = .time(Int64(time.microseconds))
        case (.date, .string(let points)):
            guard let day = ReferenceCalendar.day(of: String(codePoints: points)) else { return nil }
            self = .day(day)
        case (.uuid, .string(let points)):
            self = .uuid(String(codePoints: points).replacing("-", with: "").lowercased())
        case (.jsonb, let json?): self = .json(json)
        default: return nil
        }
    }
}

/// A decimal number: its sign, its digits without zeros at the ends, the place of the last digit, and how many places are shown.
struct PlainDecimal: Equatable {
    let isNegative: Bool
    let digits: String
    /// The power of ten of the last digit.
    let exponent: Int
    let scale: Int

    private init(isNegative: Bool, digits: String, exponent: Int, scale: Int) {
        let significant = String(digits.drop { $0 == "0" })
        let trimmed = String(significant.reversed().drop { $0 == "0" }.reversed())
        self.digits = trimmed
        self.exponent = trimmed.isEmpty ? 0 : exponent + significant.count - trimmed.count
        self.isNegative = isNegative && !trimmed.isEmpty
        self.scale = scale
    }

    /// Reads JSON's form of a number.
    init(_ text: String) {
        let parts = text.split(whereSeparator: { $0 == "e" || $0 == "E" })
        let mantissa = parts[0].drop { $0 == "-" }.split(separator: ".")
        let fraction = mantissa.count == 2 ? mantissa[1] : ""
        let exponent = (parts.count == 2 ? Int(parts[1]) ?? 0 : 0) - fraction.count
        self.init(
            isNegative: text.hasPrefix("-"),
            digits: "\(mantissa[0])\(fraction)",
            exponent: exponent,
            scale: max(0, -exponent)
        )
    }

    /// Reads PostgreSQL's binary form, with digits of base 10,000.
    init?(binary reader: inout BigEndianReader) {
        guard let count: Int16 = reader.next(), let weight: Int16 = reader.next(), let sign: UInt16 = reader.next(),
            let scale: Int16 = reader.next(), count >= 0, scale >= 0, sign == 0 || sign == 0x4000
        else { return nil }
        var digits = ""
        for _ in 0..<count {
            guard let digit: Int16 = reader.next(), 0..<10_000 ~= digit else { return nil }
            digits += String(repeating: "0", count: 4 - String(digit).count) + String(digit)
        }
        self.init(
            isNegative: sign == 0x4000,
            digits: digits,
            exponent: (Int(weight) - Int(count) + 1) * 4,
            scale: Int(scale)
        )
    }
}

/// Reads numbers in network byte order.
struct BigEndianReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func next<Number: FixedWidthInteger>() -> Number? {
        bytes(Number.bitWidth / 8)
            .map { $0.reduce(0) { number, byte in number << 8 | Number(truncatingIfNeeded: byte) } }
    }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}
