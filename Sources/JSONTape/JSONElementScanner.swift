/// Finds the elements of an array one after another, without parsing them.
///
/// For an array that is not parsed as one document: one element is more than the parser takes, all together would take
/// more memory than one body should, or the work on them is spread over several turns.
///
/// Brackets and strings must be closed; what an element holds is for its own parse to judge.
package struct JSONElementScanner: Sendable {
    /// What was found.
    package enum Step: Sendable, Hashable {
        /// The bytes of the next element, without the white space around it.
        case element(Range<Int>)
        /// The limit was reached before the end of the next element; the next call continues there.
        case unfinished
        /// The array is over, and nothing follows it.
        case end
        /// The text is no array, or its elements are not separated by single commas.
        case broken
    }

    private enum Place {
        /// Before the opening bracket. Can transition to: element or closed, with the bracket.
        case opening
        /// In an element, or directly before it. Can transition to: closed, with the closing bracket.
        case element
        /// Behind the closing bracket. No way out.
        case closed
    }

    /// How far the text was read.
    package private(set) var position = 0
    private var place = Place.opening
    /// Where the current element begins.
    private var start = 0
    private var depth = 0
    private var isInString = false

    /// Prepares for the beginning of a text.
    package init() {}

    /// Reads on to the end of the next element, but not beyond `limit` within an element.
    ///
    /// - Parameter text: The same text at each call.
    package mutating func next(in text: UnsafeRawBufferPointer, limit: Int = .max) -> Step {
        if place == .opening {
            position = Self.skipSpace(text, from: position)
            guard position < text.count, text[position] == UInt8(ascii: "[") else { return .broken }
            beginElement(in: text)
            guard position < text.count else { return .broken }
            place = .element
            if text[position] == UInt8(ascii: "]") {
                place = .closed
                position += 1
            }
        }
        if place == .closed { return Self.skipSpace(text, from: position) == text.count ? .end : .broken }
        guard position < text.count else { return .broken }
        return finishElement(in: text, limit: min(limit, text.count))
    }

    /// Goes behind the bracket or comma at `position`, to the beginning of an element.
    private mutating func beginElement(in text: UnsafeRawBufferPointer) {
        position = Self.skipSpace(text, from: position + 1)
        start = position
    }

    private mutating func finishElement(in text: UnsafeRawBufferPointer, limit: Int) -> Step {
        var position = position
        while position < limit {
            if isInString {
                position = skipString(text, from: position, limit: limit)
                continue
            }
            switch text[position] {
            case UInt8(ascii: "\""):
                isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
            case UInt8(ascii: "]") where depth == 0, UInt8(ascii: ",") where depth == 0:
                self.position = position
                return closeElement(in: text)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                guard depth >= 0 else { return .broken }
            default:
                break
            }
            position += 1
        }
        self.position = position
        return position < text.count ? .unfinished : .broken
    }

    /// Goes behind the closing quote, or to the limit; an escape may lead one byte beyond it.
    private mutating func skipString(_ text: UnsafeRawBufferPointer, from start: Int, limit: Int) -> Int {
        var position = start
        while position < limit {
            switch text[position] {
            case UInt8(ascii: "\\"): position += 2
            case UInt8(ascii: "\""):
                isInString = false
                return position + 1
            default: position += 1
            }
        }
        return position
    }

    /// Ends the element before the bracket or comma at `position`.
    private mutating func closeElement(in text: UnsafeRawBufferPointer) -> Step {
        var end = position
        while end > start, JSONElements.isSpace(text[end - 1]) { end -= 1 }
        guard end > start else { return .broken }
        let element = start..<end
        if text[position] == UInt8(ascii: "]") {
            place = .closed
            position += 1
        } else {
            beginElement(in: text)
        }
        return .element(element)
    }

    private static func skipSpace(_ text: UnsafeRawBufferPointer, from start: Int) -> Int {
        var position = start
        while position < text.count, JSONElements.isSpace(text[position]) { position += 1 }
        return position
    }
}
