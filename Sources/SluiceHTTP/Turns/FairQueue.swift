import HeapModule
import NIOCore

/// A queue that serves each sender's elements in order; of all senders, the one that has used the least goes next.
///
/// What a turn cost is charged to the sender afterwards. A sender that had nothing in the queue for a while starts level with
/// the others: it neither saves up time nor pays for time that nobody wanted. Each operation takes logarithmic time in the number
/// of senders, because a hostile one may have many addresses.
package struct FairQueue<Sender: Hashable, Element> {
    private struct Line {
        var elements = CircularBuffer<Element>()
        /// What the sender has used, in the same unit as `level`.
        var used: Int
    }

    /// A sender with elements, in the order in which the senders are served.
    private struct Place: Comparable {
        let sender: Sender
        /// What the sender had used when it got this place; it may have used more since.
        let used: Int
        let number: UInt64

        static func < (left: Self, right: Self) -> Bool { (left.used, left.number) < (right.used, right.number) }
        static func == (left: Self, right: Self) -> Bool { left.number == right.number }
    }

    /// The number of senders without elements that are remembered, besides as many as there are with elements.
    private static var maximumIdleLines: Int { 64 }

    private var lines: [Sender: Line] = [:]
    /// One for each sender with elements.
    private var places = Heap<Place>()
    private var nextNumber: UInt64 = 0
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
        if line.elements.isEmpty {
            line.used = max(line.used, level)
            addPlace(of: sender, line.used)
        }
        line.elements.insert(element, at: line.elements.index(line.elements.startIndex, offsetBy: place))
        lines[sender] = line
        count += 1
    }

    /// Removes the next element.
    package mutating func popFirst() -> Element? {
        while let place = places.popMin() {
            var line = removeLine(of: place.sender)
            guard line.used <= place.used else {
                addPlace(of: place.sender, line.used)
                lines[place.sender] = line
                continue
            }
            let element = line.elements.popFirst()
            level = max(level, line.used)
            if !line.elements.isEmpty { addPlace(of: place.sender, line.used) }
            lines[place.sender] = line
            count -= 1
            return element
        }
        return nil
    }

    /// Charges a sender for a turn.
    package mutating func charge(_ sender: Sender, _ cost: Int) {
        var line = removeLine(of: sender)
        line.used += cost
        lines[sender] = line
    }

    private mutating func addPlace(of sender: Sender, _ used: Int) {
        places.insert(Place(sender: sender, used: used, number: nextNumber))
        nextNumber += 1
    }

    /// Takes a sender's line out, so that it can be changed without a copy; the caller puts it back.
    private mutating func removeLine(of sender: Sender) -> Line {
        if let line = lines.removeValue(forKey: sender) { return line }
        // So many are forgotten at once that each addition pays for a few of them.
        if lines.count >= 2 * places.count + Self.maximumIdleLines {
            lines = lines.filter { !$0.value.elements.isEmpty }
        }
        return Line(used: level)
    }
}
