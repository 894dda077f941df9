/// Finds the elements of an array, or the members of an object, one after another, without parsing them.
///
/// It serves texts that are not parsed as one document, because the parser refuses one of the elements, because all elements
/// together would take too much memory, or because the work on them is split into several turns.
///
/// It only checks that brackets and strings are closed; each element is parsed on its own afterwards. A member is found as an
/// element from its key to the end of its value.
public struct JSONElementScanner: Sendable {
    /// What a call found.
    public enum Step: Sendable, Hashable {
        /// The range of the next element, without the white space around it.
        case element(Range<Int>)
        /// The limit was reached before the end of the next element; the next call continues there.
        case unfinished
        /// The container is closed, and nothing follows it.
        case end
        /// The text is not such a container, or an element is empty although none may be.
        case broken
    }

    /// What the text is.
    public enum Container: Sendable, Hashable {
        /// An array, whose elements are found.
        case array
        /// An object, whose members are found.
        case object

        var opening: UInt8 { self == .array ? UInt8(ascii: "[") : UInt8(ascii: "{") }
        var closing: UInt8 { self == .array ? UInt8(ascii: "]") : UInt8(ascii: "}") }
    }

    private enum Place {
        /// Before the opening bracket. Can transition to: element or closed, after the bracket.
        case opening
        /// In an element, or directly before one. Can transition to: closed, after the closing bracket.
        case element
        /// After the closing bracket. No way out.
        case closed
    }

    /// The number of bytes read.
    public private(set) var position = 0
    private var place = Place.opening
    /// The position at which the current element begins.
    private var start = 0
    private var depth = 0
    private var isInString = false

    private let container: Container
    private let allowsEmptyElements: Bool

    /// Creates a scanner at the beginning of a text.
    ///
    /// An empty element, which is nothing between two commas or between a comma and a bracket, makes the whole text invalid. With
    /// `allowsEmptyElements` it is found as an element, which is as invalid as any other text that is not JSON.
    public init(of container: Container = .array, allowsEmptyElements: Bool = false) {
        self.container = container
        self.allowsEmptyElements = allowsEmptyElements
    }

    /// Reads to the end of the next element, but stops at `limit` within an element.
    ///
    /// `text` must be the same in each call.
    public mutating func next(in text: UnsafeRawBufferPointer, limit: Int = .max) -> Step {
        if place == .opening {
            position = Self.skipSpace(text, from: position)
            guard position < text.count, text[position] == container.opening else { return .broken }
            beginElement(in: text)
            guard position < text.count else { return .broken }
            place = .element
            if text[position] == container.closing {
                place = .closed
                position += 1
            }
        }
        if place == .closed { return Self.skipSpace(text, from: position) == text.count ? .end : .broken }
        guard position < text.count else { return .broken }
        return finishElement(in: text, limit: min(limit, text.count))
    }

    /// Moves from the bracket or comma at `position` to the beginning of the element after it.
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
            case container.closing where depth == 0, UInt8(ascii: ",") where depth == 0:
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

    /// Returns the position after the closing quotation mark, or the limit; an escape may exceed the limit by one byte.
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
        guard end > start || allowsEmptyElements else { return .broken }
        end = max(start, end)
        let element = start..<end
        if text[position] == container.closing {
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
