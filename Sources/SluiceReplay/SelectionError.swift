/// A selection of events that can never match: a code that does not exist, or an event that the plan does not have.
package struct SelectionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence for who made the selection.
    package let message: String

    /// The sentence.
    package var description: String { message }

    init(_ message: String) {
        self.message = message
    }
}
