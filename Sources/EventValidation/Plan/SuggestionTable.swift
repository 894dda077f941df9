@_spi(CanonicalJSON) import EventModel

/// Suggests the string of a fixed set that differs from a text only in case and separators.
///
/// The strings are folded when the table is created, so a suggestion takes one lookup however many strings there are.
struct SuggestionTable: BitwiseCopyable {
    /// The number of bytes of a text that are compared.
    private static let maximumBytes = 255

    private let folded: ByteTable
    /// For each folded text, the ordinal of the first string that folds to it.
    private let ordinals: UnsafePointer<Int>
    private let strings: ByteTable

    init(_ strings: ByteTable, in arena: PlanArena) {
        var seen: Set<[UInt8]> = []
        var distinct: [[UInt8]] = []
        var ordinals: [Int] = []
        for ordinal in 0..<strings.count {
            let text = Self.fold(strings.names[ordinal].bytes)
            guard !text.isEmpty, seen.insert(text).inserted else { continue }
            distinct.append(text)
            ordinals.append(ordinal)
        }
        folded = ByteTable(distinct, in: arena)
        self.ordinals = arena.allocate(ordinals)
        self.strings = strings
    }

    /// The string that the sender probably meant, if its ordinal may be shown.
    func suggestion(
        for text: UnsafeRawBufferPointer,
        where mayBeShown: (_ ordinal: Int) -> Bool = { _ in true }
    ) -> String? {
        let ordinal = find(text).ordinal
        return ordinal >= 0 && mayBeShown(ordinal) ? strings.text(of: ordinal) : nil
    }

    /// The suggestion, and the number of strings that the text was compared with.
    func lookUp(_ text: UnsafeRawBufferPointer) -> (suggestion: String?, comparisons: Int) {
        let (ordinal, comparisons) = find(text)
        return (ordinal < 0 ? nil : strings.text(of: ordinal), comparisons)
    }

    /// The ordinal of the first string that folds to the same text, or -1, and the number of comparisons.
    private func find(_ text: UnsafeRawBufferPointer) -> (ordinal: Int, comparisons: Int) {
        let key = Self.fold(UnsafeRawBufferPointer(rebasing: text.prefix(Self.maximumBytes)))
        guard !key.isEmpty else { return (-1, 0) }
        let padded = key + [UInt8](repeating: 0, count: ByteBuilder.padding)
        let (ordinal, comparisons) = padded.withUnsafeBytes {
            folded.lookUp(UnsafeRawBufferPointer(rebasing: $0.prefix(key.count)))
        }
        return (ordinal < 0 ? -1 : ordinals[ordinal], comparisons)
    }

    /// The letters and digits of a text, in lower case.
    private static func fold(_ text: UnsafeRawBufferPointer) -> [UInt8] {
        guard text.allSatisfy({ $0 < 0x80 }) else {
            return Array(String(decoding: text, as: UTF8.self).lowercased().filter { $0.isLetter || $0.isNumber }.utf8)
        }
        return text.compactMap { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
            default: nil
            }
        }
    }
}

extension EventCatalog {
    /// The event that was probably meant by an unknown name, and the number of names that it was compared with.
    package func suggestedEvent(for name: String) -> (suggestion: String?, comparisons: Int) {
        Array(name.utf8).withUnsafeBytes { compiled.tables.suggestions.lookUp($0) }
    }

    /// The property that was probably meant by an unknown key of an event's payload, and the number of comparisons.
    package func suggestedProperty(for key: String, ofEventAt index: Int) -> (suggestion: String?, comparisons: Int) {
        let object = compiled.tables.objects[compiled.tables.events[index].payload]
        return Array(key.utf8).withUnsafeBytes { object.suggestions.lookUp($0) }
    }
}
