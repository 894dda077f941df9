/// Suggests the closest known name.
package enum Spelling {
    /// The end of a sentence about an unknown word: the closest known word, or else a list of the known words.
    package static func hint(
        for word: String,
        among candidates: [String],
        listedAs introduction: String,
        quotes: (String, String) = ("'", "'")
    ) -> String {
        if let nearest = nearest(to: word, among: candidates) {
            return "did you mean \(quotes.0)\(printable(nearest))\(quotes.1)?"
        }
        let longest = 20
        let rest = candidates.count > longest ? ", …" : ""
        return "\(introduction) \(candidates.prefix(longest).map(printable).joined(separator: ", "))\(rest)"
    }

    /// The candidate with the smallest edit distance, ignoring case; `nil` if none is close.
    ///
    /// An edit inserts, deletes or replaces a character, or swaps two neighbours. One in three characters may be wrong.
    package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let word = Array(word.lowercased().unicodeScalars)
        guard word.count <= longestWord else { return nil }
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let other = Array(candidate.lowercased().unicodeScalars)
            let limit = min(3, max(word.count, other.count) / 3)
            guard other.count <= longestWord, abs(word.count - other.count) <= limit else { continue }
            let distance = distance(from: word, to: other)
            if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.candidate
    }

    /// Names longer than this are not compared: the work grows with the product of the lengths.
    private static let longestWord = 64

    /// The edit distance with swaps (optimal string alignment), in three rows of the usual table.
    private static func distance(from left: [Unicode.Scalar], to right: [Unicode.Scalar]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let replacement = last[column] + (left[row] == right[column] ? 0 : 1)
                var least = min(replacement, last[column + 1] + 1, current[column] + 1)
                let isSwap =
                    row > 0 && column > 0 && left[row] == right[column - 1] && left[row - 1] == right[column]
                if isSwap { least = min(least, beforeLast[column - 1] + 1) }
                current.append(least)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}

/// A text from a plan in quotation marks, on one line, truncated if it is long.
package func quoted(_ text: String) -> String { "'\(printable(text))'" }

/// A text from a plan on one line, with invisible characters escaped, truncated if it is long.
package func printable(_ text: String) -> String {
    let longest = 80
    var result = ""
    for scalar in text.unicodeScalars.prefix(longest) {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .format:
            result += "\\u{\(String(scalar.value, radix: 16))}"
        default:
            result.unicodeScalars.append(scalar)
        }
    }
    return text.unicodeScalars.count > longest ? result + "…" : result
}
