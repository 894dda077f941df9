import NIOCore

/// The bodies that wait for a turn on an event loop.
///
/// Small bodies precede large ones, because each takes a fraction of a turn. Only the first few large bodies are in progress, in
/// rotation; the others hold only what was received.
package struct TurnQueue<Element> {
    /// The maximum number of large bodies in progress at one time.
    package static var maximumInProgress: Int { 4 }

    private var small = CircularBuffer<Element>()
    private var large = CircularBuffer<Element>()

    /// Makes an empty queue.
    package init() {}

    /// Whether no body waits.
    package var isEmpty: Bool { small.isEmpty && large.isEmpty }

    /// Adds a body that had no turn yet.
    package mutating func add(_ element: Element, isSmall: Bool) {
        if isSmall { small.append(element) } else { large.append(element) }
    }

    /// Adds a body that needs another turn.
    package mutating func addAgain(_ element: Element, isSmall: Bool) {
        if isSmall { return small.append(element) }
        let place = min(Self.maximumInProgress - 1, large.count)
        large.insert(element, at: large.index(large.startIndex, offsetBy: place))
    }

    /// Removes the next small body.
    package mutating func nextSmall() -> Element? { small.popFirst() }

    /// Removes the next large body.
    package mutating func nextLarge() -> Element? { large.popFirst() }
}
