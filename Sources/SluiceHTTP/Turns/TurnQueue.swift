/// Someone who shares the time of an event loop with others.
package protocol TurnSender: Hashable {
    /// The maximum number of its large bodies in progress at one time, each of which takes memory.
    var maximumInProgress: Int { get }
}

/// The bodies that wait for a turn on an event loop.
///
/// Small bodies precede large ones, because each takes a fraction of a turn; among each kind, senders share the time equally. Only
/// the first few large bodies of a sender are in progress, in rotation; the others hold only what was received.
package struct TurnQueue<Sender: TurnSender, Element> {
    private var small = FairQueue<Sender, Element>()
    private var large = FairQueue<Sender, Element>()

    /// Makes an empty queue.
    package init() {}

    /// Whether no body waits.
    package var isEmpty: Bool { small.isEmpty && large.isEmpty }

    /// Adds a body that had no turn yet.
    package mutating func add(_ element: Element, of sender: Sender, isSmall: Bool) {
        if isSmall {
            small.insert(element, of: sender, at: small.count(of: sender))
        } else {
            large.insert(element, of: sender, at: large.count(of: sender))
        }
    }

    /// Adds a body that needs another turn.
    package mutating func addAgain(_ element: Element, of sender: Sender, isSmall: Bool) {
        if isSmall { return small.insert(element, of: sender, at: small.count(of: sender)) }
        large.insert(element, of: sender, at: min(sender.maximumInProgress - 1, large.count(of: sender)))
    }

    /// Removes the next small body.
    package mutating func nextSmall() -> Element? { small.popFirst() }

    /// Removes the next large body.
    package mutating func nextLarge() -> Element? { large.popFirst() }

    /// Charges a sender for a turn of one of its bodies.
    package mutating func charge(_ sender: Sender, _ cost: Int) {
        small.charge(sender, cost)
        large.charge(sender, cost)
    }
}
