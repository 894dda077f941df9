/// Removes comments and the contents of string literals from Swift, so that rules see only code.
///
/// Lines keep their numbers and their indentation. A string literal inside an interpolation counts as code, which no rule minds.
struct SwiftCode {
    private enum State {
        case code
        case comment
        case string(end: [UInt8], hasEscapes: Bool)
    }

    private let text: [UInt8]
    private var state = State.code
    private var position = 0
    private var result: [UInt8] = []

    /// The lines of a text, reduced to code.
    static func lines(of text: String) -> [String] {
        var code = SwiftCode(text: Array(text.utf8))
        while code.position < code.text.count { code.step() }
        return code.result.split(separator: newline, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private static let newline = UInt8(ascii: "\n")
    private static let quote = UInt8(ascii: "\"")
    private static let hash = UInt8(ascii: "#")

    private init(text: [UInt8]) {
        self.text = text
        result.reserveCapacity(text.count)
    }

    private mutating func step() {
        let byte = text[position]
        switch state {
        case .code:
            stepInCode(byte)
        case .comment:
            if byte == Self.newline {
                state = .code
                result.append(byte)
            }
            position += 1
        case .string(let end, let hasEscapes):
            stepInString(byte, end: end, hasEscapes: hasEscapes)
        }
    }

    private mutating func stepInCode(_ byte: UInt8) {
        if byte == UInt8(ascii: "/"), isAt([byte, byte]) {
            state = .comment
            position += 2
        } else if byte == Self.quote || byte == Self.hash, let opening = openingOfString() {
            state = .string(end: opening.reversed(), hasEscapes: byte == Self.quote)
            position += opening.count
            result.append(Self.quote)
        } else {
            result.append(byte)
            position += 1
        }
    }

    private mutating func stepInString(_ byte: UInt8, end: [UInt8], hasEscapes: Bool) {
        if byte == end[0], isAt(end) {
            state = .code
            position += end.count
            result.append(Self.quote)
        } else if hasEscapes, byte == UInt8(ascii: "\\") {
            position += 2
        } else {
            if byte == Self.newline { result.append(byte) }
            position += 1
        }
    }

    /// The opening quotes and hashes of a string literal at this position; the closing ones are the same, reversed.
    private func openingOfString() -> [UInt8]? {
        let hashes = Array(text[position...].prefix { $0 == Self.hash })
        let quotes = text[(position + hashes.count)...].prefix { $0 == Self.quote }.count
        guard quotes > 0 else { return nil }
        return hashes + Array(repeating: Self.quote, count: quotes >= 3 ? 3 : 1)
    }

    private func isAt(_ word: [UInt8]) -> Bool {
        text[position...].starts(with: word)
    }
}
