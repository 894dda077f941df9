package import EventSchema

/// Looks for code that makes or sends the events of a plan.
///
/// In Swift that is a call of the generated type, `OrderPlaced(`, `OrderPlaced.init` or `: OrderPlaced = .init`, with or
/// without its namespace, or of the class it has in JustTrack's style, `EventOrderPlaced(`, but not in comments and strings. In every other text it is the
/// event's name on the wire between quotation marks, which may be escaped. A name that is put together at run time is not seen, and neither is
/// `.init(` where only the compiler knows the type.
package struct EventUses: Sendable {
    private let types: [String: Int]
    private let names: [[UInt8]: Int]
    private let longestName: Int

    /// Prepares to look for the events of a plan.
    package init(of plan: TrackingPlan) {
        let events = plan.events.enumerated()
        let structs = events.map { (Self.type(of: $1), $0) }
        // A plan may be generated in both styles, for code that moves from one to the other.
        let classes = events.map { (JustTrackName.eventClass($1.key), $0) }
        types = Dictionary(structs + classes) { first, _ in first }
        names = Dictionary(events.map { (Array($1.name.utf8), $0) }) { first, _ in first }
        longestName = names.keys.map(\.count).max() ?? 0
    }

    /// The name of the type that is generated for an event, without backticks.
    package static func type(of event: EventDefinition) -> String {
        SwiftName.unescaped(event.swiftTypeName)
    }

    // MARK: Swift

    /// The events that Swift text makes, by their place in the plan.
    package func inSwift(_ text: [UInt8]) -> Set<Int> {
        let tokens = SwiftTokens.tokens(of: text)
        var found: Set<Int> = []
        for (index, token) in tokens.enumerated() {
            guard case .word(let word) = token, let event = types[word], !found.contains(event) else { continue }
            if Self.isMade(at: index, in: tokens), !Self.isDeclared(at: index, in: tokens) { found.insert(event) }
        }
        return found
    }

    /// Whether the type at a place is called, or said to be what `.init` makes.
    private static func isMade(at index: Int, in tokens: [SwiftToken]) -> Bool {
        let following = tokens[(index + 1)...]
        if following.first == .mark("(") || following.starts(with: [.mark("."), .word("init")]) { return true }
        var start = index
        // The module and the namespace are parts of the type's name.
        while start > 1, tokens[start - 1] == .mark("."), case .word = tokens[start - 2] { start -= 2 }
        let isAnnotation = start > 0 && tokens[start - 1] == .mark(":")
        let assignment = following.drop { $0 == .mark("?") || $0 == .mark("!") }
        return isAnnotation && assignment.starts(with: [.mark("="), .mark("."), .word("init")])
    }

    /// Whether something else of this name is declared there, or a case of some `enum` is meant.
    private static func isDeclared(at index: Int, in tokens: [SwiftToken]) -> Bool {
        guard index > 0 else { return false }
        if case .word(let word) = tokens[index - 1] { return ["func", "case", "macro"].contains(word) }
        guard tokens[index - 1] == .mark(".") else { return false }
        guard index > 1, case .word = tokens[index - 2] else { return true }
        return false
    }

    // MARK: Other languages

    /// The events whose names stand between quotation marks in a text, by their place in the plan.
    package func inText(_ text: [UInt8]) -> Set<Int> {
        var found: Set<Int> = []
        var position = 0
        while let start = text[position...].firstIndex(where: Self.isQuotationMark) {
            // In JSON that is itself a string, both marks stand behind as many backslashes.
            let escapes = text[position..<start].reversed().prefix { $0 == UInt8(ascii: "\\") }.count
            position = start + 1
            let limit = min(text.count, position + longestName + escapes + 1)
            guard let end = text[position..<limit].firstIndex(of: text[start]) else { continue }
            let name = text[position..<end]
            guard name.suffix(escapes).count(where: { $0 == UInt8(ascii: "\\") }) == escapes else { continue }
            if let event = names[Array(name.dropLast(escapes))] { found.insert(event) }
        }
        return found
    }

    private static func isQuotationMark(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "`")
    }
}
