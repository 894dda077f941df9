/// Random texts, numbers, times and ids, valid and invalid.
package enum GeneratedText {
    package static func string(_ source: inout CaseSource) -> [UInt32] {
        if source.once(in: 4) {
            return source.pick(["", "a", "abc", "small", "A1", "9", "a\u{301}", "\u{E1}", "abcde", "x\n", "É😀"])
                .unicodeScalars.map(\.value)
        }
        return (0..<source.number(0...12)).map { _ in codePoint(&source) }
    }

    package static func codePoint(_ source: inout CaseSource) -> UInt32 {
        switch source.number(0...11) {
        case 0: UInt32(source.number(1...0x1F))
        case 1: source.pick([0x22, 0x5C, 0x2F, 0x27, 0x7F])
        case 2: source.pick([0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF, 0x2028, 0xFEFF, 0xFFFD])
        case 3: UInt32(source.number(0xD000...0xD7FF))
        case 4: UInt32(source.number(0x1F600...0x1F640))
        default: UInt32(source.number(0x61...0x7A))
        }
    }

    package static func integer(_ source: inout CaseSource) -> String {
        switch source.number(0...9) {
        case 0: source.pick(["0", "-0", "-0.0", "0.0", "1.0", "1e3", "-1E+2", "10e-1", "1.50e1", "0e5"])
        case 1:
            source.pick([
                "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615",
                "9223372036854775807.0", "9.223372036854775807e18", "9223372036854775808.0", "-9223372036854775809.0",
                "9007199254740991", "9007199254740993.0", "9007199254740993", "4503599627370497.3", "1e400", "1e-400",
                "-9223372036854775809", "18446744073709551616", "1e308", "9007199254740992.5", "1.00000000000000000001",
            ])
        case 2: source.pick(["0.5", "1.5", "-2.25", "1e-3"])
        default: String(source.number(-12...12))
        }
    }

    package static func number(_ source: inout CaseSource) -> String {
        switch source.number(0...7) {
        case 0, 1: integer(&source)
        case 2: Double(bitPattern: source.next()).isFinite ? exponential(&source) : "1e-7"
        case 3: "\(source.number(0...999)).\(source.number(0...99))"
        case 4: "\(source.number(-9...9)).\(source.number(0...999_999))e\(source.number(-12...20))"
        case 5:
            source.pick([
                "1e15", "1e16", "123456789012345.0", "1000000000000000", "10000000000000000.0", "1e-6", "0.000001",
                "0.0000015", "5e-7", "5e-324", "1.7976931348623157e308", "1e22", "0.1", "2.50", "1e5", "-0.0",
            ])
        default: String(source.number(-1000...1000))
        }
    }

    private static func exponential(_ source: inout CaseSource) -> String {
        let value = Double(bitPattern: source.next())
        return value.isFinite ? value.description : "3.25"
    }

    package static func decimal(_ source: inout CaseSource) -> String {
        switch source.number(0...6) {
        case 0: number(&source)
        case 1:
            source.pick([
                "0.10", "1.50", "1.5", "150e-2", "-0", "0.00", "-0.00", "00.5", "1.", ".5", "+1", "1e3", "1E-3", "",
                " 1",
                "123456789012345678901234567890.123456789", "0.1234567890123456789", "1e999", "1e1000", "1e-999",
                "1e-1000", "1e10000000", "1e+0002", "NaN", "0x10", "1,5", "१", "9999999999999999.99",
            ])
        case 2: "\(source.number(0...9)).\(source.number(0...99))0"
        case 3: "\(source.number(1...999))e\(source.number(-8...8))"
        default: "\(source.number(-20...20)).\(source.number(0...9))"
        }
    }

    package static func uuid(_ source: inout CaseSource) -> String {
        let digits = Array("0123456789abcdefABCDEF")
        var text = [8, 4, 4, 4, 12].map { length in String((0..<length).map { _ in source.pick(digits) }) }
            .joined(separator: "-")
        if source.once(in: 12) {
            text = source.pick([text + "0", String(text.dropLast()), "{\(text)}", "", "g" + text.dropFirst()])
        }
        return text
    }
}
