import NIOCore

/// A queue from which each sender's elements are taken in order, and of all senders that one's next which has used least.
///
/// What a turn cost is charged to the sender afterwards. A sender that had nothing in the queue for a while starts level with
/// the others: it neither saves up time nor pays for time that nobody wanted.
package struct FairQueue<Sender: Hashable, Element> {
    private struct Line {
        var elements = CircularBuffer<Element>()
        /// What the sender has used, in the same unit as `level`.
        var used: Int
    }

    /// The number of senders beyond which those without elements are forgotten.
    private static var maximumIdleLines: Int { 64 }

    private var lines: [Sender: Line] = [:]
    /// What the sender had used whose element was taken last.
    private var level = 0
    /// The number of elements of all senders.
    package private(set) var count = 0

    /// Makes an empty queue.
    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// The number of elements of a sender.
    package func count(of sender: Sender) -> Int { lines[sender]?.elements.count ?? 0 }

    /// Adds an element of a sender, at a place among the sender's own elements.
    package mutating func insert(_ element: Element, of sender: Sender, at place: Int) {
        var line = removeLine(of: sender)
        if line.elements.isEmpty { line.used = max(line.used, level) }
        line.elements.insert(element, at: line.elements.index(line.elements.startIndex, offsetBy: place))
        lines[sender] = line
        count += 1
    }

    /// Removes the next element.
    package mutating func popFirst() -> Element? {
        let waiting = lines.lazy.filter { !$0.value.elements.isEmpty }
        guard let sender = waiting.min(by: { $0.value.used < $1.value.used })?.key else { return nil }
        var line = removeLine(of: sender)
        let element = line.elements.popFirst()
        level = max(level, line.used)
        lines[sender] = line
        count -= 1
        return element
    }

    /// Charges a sender for a turn.
    package mutating func charge(_ sender: Sender, _ cost: Int) {
        var line = removeLine(of: sender)
        line.used += cost
        lines[sender] = line
    }

    /// Takes a sender's line out, so that it can be changed without a copy; the caller puts it back.
    private mutating func removeLine(of sender: Sender) -> Line {
        if let line = lines.removeValue(forKey: sender) { return line }
        if lines.count >= Self.maximumIdleLines { lines = lines.filter { !$0.value.elements.isEmpty } }
        return Line(used: level)
    }
}
