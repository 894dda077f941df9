package import EventSchema

/// Searches code for places that create or send the events of a plan.
///
/// In Swift that is a call of the generated type, `OrderPlaced(`, `OrderPlaced.init` or `: OrderPlaced = .init`, with or
/// without its namespace, or of its class in JustTrack's style, `EventOrderPlaced(`, outside comments and strings. In any
/// other text it is the event's name on the wire in quotation marks, which may be escaped. A name that is composed at run
/// time is not found, and neither is `.init(` if only the compiler knows the type.
package struct EventUses: Sendable {
    private let types: [String: Int]
    private let names: [[UInt8]: Int]
    private let longestName: Int

    /// Prepares the search for the events of a plan.
    package init(of plan: TrackingPlan) {
        let events = plan.events.enumerated()
        let structs = events.map { (Self.type(of: $1), $0) }
        // Code that migrates from one style to the other may use both.
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

    /// The events that Swift code creates, as indices in the plan.
    package func inSwift(_ text: [UInt8]) -> Set<Int> {
        let tokens = SwiftTokens.tokens(of: text)
        var found: Set<Int> = []
        for (index, token) in tokens.enumerated() {
            guard case .word(let word) = token, let event = types[word], !found.contains(event) else { continue }
            if Self.isMade(at: index, in: tokens), !Self.isDeclared(at: index, in: tokens) { found.insert(event) }
        }
        return found
    }

    /// Whether the type at an index is called, or is the type annotation of an `.init`.
    private static func isMade(at index: Int, in tokens: [SwiftToken]) -> Bool {
        let following = tokens[(index + 1)...]
        if following.first == .mark("(") || following.starts(with: [.mark("."), .word("init")]) { return true }
        var start = index
        // Skips the module and the namespace.
        while start > 1, tokens[start - 1] == .mark("."), case .word = tokens[start - 2] { start -= 2 }
        let isAnnotation = start > 0 && tokens[start - 1] == .mark(":")
        let assignment = following.drop { $0 == .mark("?") || $0 == .mark("!") }
        return isAnnotation && assignment.starts(with: [.mark("="), .mark("."), .word("init")])
    }

    /// Whether the name is that of a declaration or of an enum's case.
    private static func isDeclared(at index: Int, in tokens: [SwiftToken]) -> Bool {
        guard index > 0 else { return false }
        if case .word(let word) = tokens[index - 1] { return ["func", "case", "macro"].contains(word) }
        guard tokens[index - 1] == .mark(".") else { return false }
        guard index > 1, case .word = tokens[index - 2] else { return true }
        return false
    }

    // MARK: Other languages

    /// The events whose names occur in quotation marks in a text, as indices in the plan.
    package func inText(_ text: [UInt8]) -> Set<Int> {
        var found: Set<Int> = []
        var position = 0
        while let start = text[position...].firstIndex(where: Self.isQuotationMark) {
            // In JSON within a string, the same number of backslashes precedes both quotation marks.
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
