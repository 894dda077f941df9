/// What libpq says when a connection cannot be made, with the SQLSTATE taken out of it.
///
/// A refused start-up has no result to ask; but with verbose messages libpq writes the server's code into the text:
/// `connection to server at "db" (10.0.0.1), port 5432 failed: FATAL:  28P01: password authentication failed …`.
package struct ConnectionMessage {
    /// The code, where the server gave one.
    package let sqlState: String?
    /// The message on one line, without the code and the place in the server's source.
    package let text: String

    package init(_ raw: String) {
        let lines = raw.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("LOCATION:") }
        let joined = lines.map { $0.trimmingPrefix(while: \.isWhitespace) }.joined(separator: " ")
        var words = joined.split(separator: " ")
        let place = words.indices.dropFirst().first { index in
            words[index - 1].hasSuffix(":") && Self.isCode(words[index])
        }
        sqlState = place.map { String(words[$0].dropLast()) }
        if let place { words.remove(at: place) }
        text = words.joined(separator: " ")
    }

    private static func isCode(_ word: Substring) -> Bool {
        word.utf8.count == 6 && word.hasSuffix(":")
            && word.utf8.dropLast().allSatisfy {
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0
            }
            && word.utf8.contains { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }
}
