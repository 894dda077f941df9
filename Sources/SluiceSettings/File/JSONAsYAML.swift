/// Rewrites JSON so that libyaml reads it, with every token at the line and column that it had.
///
/// JSON is almost a subset of YAML. libyaml rejects two things that are common: a character that is written as a pair of
/// surrogate escapes, such as `\ud83d\ude00`, and a tab before the first brace.
struct JSONAsYAML {
    private var input: Substring.UnicodeScalarView
    private var output = String.UnicodeScalarView()

    /// The text as YAML; what is not valid JSON stays as it is.
    static func text(of json: String) -> String {
        var converter = JSONAsYAML(input: json[...].unicodeScalars)
        converter.convert()
        return String(converter.output)
    }

    private mutating func convert() {
        while let scalar = input.popFirst() {
            switch scalar {
            case "\"":
                output.append(scalar)
                convertString()
            // To libyaml a tab is as wide as a space.
            case "\t": output.append(" ")
            default: output.append(scalar)
            }
        }
    }

    /// Converts the rest of a string, and moves what it lost in width behind its end.
    private mutating func convertString() {
        var lost = 0
        while let scalar = input.popFirst() {
            if scalar == "\\", let character = surrogatePair() {
                output.append(character)
                lost += Self.widthOfPair - 1
                input.removeFirst(Self.widthOfPair - 1)
                continue
            }
            output.append(scalar)
            if scalar == "\\", let escaped = input.popFirst() {
                output.append(escaped)
            } else if scalar == "\"" {
                return output.append(contentsOf: repeatElement(" ", count: lost))
            }
        }
    }

    private static let widthOfPair = 12

    /// The character of `ud83d\ude00` at the beginning of the input.
    private func surrogatePair() -> Unicode.Scalar? {
        let text = Array(input.prefix(Self.widthOfPair - 1))
        guard text.count == Self.widthOfPair - 1, text[0] == "u", text[5] == "\\", text[6] == "u",
            let high = Self.unit(text[1...4]), let low = Self.unit(text[7...10]),
            UTF16.isLeadSurrogate(high), UTF16.isTrailSurrogate(low)
        else { return nil }
        return String(decoding: [high, low], as: UTF16.self).unicodeScalars.first
    }

    private static func unit(_ digits: ArraySlice<Unicode.Scalar>) -> UInt16? {
        digits.allSatisfy(\.properties.isASCIIHexDigit)
            ? UInt16(String(String.UnicodeScalarView(digits)), radix: 16) : nil
    }
}
