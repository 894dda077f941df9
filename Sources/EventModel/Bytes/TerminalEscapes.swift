/// Escapes what a terminal would act on in text that comes from outside.
///
/// These are the control characters (C0, DEL and C1), the line and paragraph separators, and the marks that change the
/// direction of text, which can make one text look like another. They become `\u001b` and so on, which means the same inside a
/// JSON string.
package enum TerminalEscapes {
    /// Appends UTF-8 with its special characters escaped; invalid UTF-8 is replaced by U+FFFD.
    ///
    /// With `keepingLines`, line feeds and tabs are kept as they are.
    package static func append(
        _ text: some Collection<UInt8>,
        keepingLines: Bool = false,
        to bytes: inout [UInt8]
    ) {
        // Outside of ASCII any byte may be a C1 control character or a part of one, and a lone 0x9B is one for some terminals.
        guard text.contains(where: { $0 < 0x20 || $0 >= 0x7F }) else {
            bytes.append(contentsOf: text)
            return
        }
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            switch scalar.value {
            case 0x09 where keepingLines, 0x0A where keepingLines:
                bytes.append(UInt8(scalar.value))
            case 0..<0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C:
                let digits = String(scalar.value, radix: 16)
                bytes.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.utf8.count))\(digits)".utf8)
            default:
                bytes.append(contentsOf: String(scalar).utf8)
            }
        }
    }
}
