import NIOCore

/// Who waits for a turn on an event loop, and who is next.
///
/// Small bodies go before large ones, because they take a fraction of a turn each. Of the large ones only the first few
/// are in progress, in rotation: those behind them hold no more than what was received.
package struct TurnQueue<Element> {
    /// How many large bodies are in progress at one time.
    package static var maximumInProgress: Int { 4 }

    private var small = CircularBuffer<Element>()
    private var large = CircularBuffer<Element>()

    /// An empty queue.
    package init() {}

    /// Whether nobody waits.
    package var isEmpty: Bool { small.isEmpty && large.isEmpty }

    /// Adds somebody who has had no turn yet.
    package mutating func add(_ element: Element, isSmall: Bool) {
        if isSmall { small.append(element) } else { large.append(element) }
    }

    /// Adds somebody who needs another turn.
    package mutating func addAgain(_ element: Element, isSmall: Bool) {
        if isSmall { return small.append(element) }
        let place = min(Self.maximumInProgress - 1, large.count)
        large.insert(element, at: large.index(large.startIndex, offsetBy: place))
    }

    /// Removes the next of the small.
    package mutating func nextSmall() -> Element? { small.popFirst() }

    /// Removes the next of the large.
    package mutating func nextLarge() -> Element? { large.popFirst() }
}
