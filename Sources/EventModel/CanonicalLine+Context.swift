extension CanonicalLine {
    /// The text of a member of the `context`, between its quotation marks and with its escapes; `nil` if there is none, or if it is no
    /// string.
    ///
    /// It reads the context up to the member, unlike everything else here.
    package func contextText(of key: String) -> Range<Int>? {
        let start = Array(#","context":{"#.utf8)
        var position = (sessionID ?? anonymousID ?? userID ?? receivedAt).upperBound + 1
        guard bytes[min(position, bytes.count)...].starts(with: start) else { return nil }
        position += start.count
        let wanted = Array("\"\(key)\":\"".utf8)
        var depth = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                // A quotation mark within a string is escaped, so this is a key.
                if depth == 0, bytes[position...].starts(with: wanted) {
                    let text = position + wanted.count
                    return end(ofStringFrom: text).map { text..<$0 }
                }
                guard let end = end(ofStringFrom: position + 1) else { return nil }
                position = end
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return nil }
                depth -= 1
            default: break
            }
            position += 1
        }
        return nil
    }

    /// The position of the quotation mark that closes a string.
    private func end(ofStringFrom start: Int) -> Int? {
        var position = start
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return position < bytes.count ? position : nil
    }
}
