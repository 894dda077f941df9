package import EventModel
package import EventValidation

/// Lines that were read and not yet validated.
package struct PendingLines {
    private let validator: EventValidator
    private let maximumLines: Int
    private var lines: ArraySlice<UInt8> = []
    private var arrival: Timestamp?

    /// Creates it without lines; a part has at most `maximumLines` lines.
    package init(_ validator: EventValidator, maximumLines: Int) {
        self.validator = validator
        self.maximumLines = maximumLines
    }

    /// Whether all lines are validated.
    package var isEmpty: Bool { lines.isEmpty }

    /// Sets the next lines; call it only when all earlier ones are validated.
    ///
    /// `arrival` is when the lines arrived, which is the time of events that state none; `nil` stands for now.
    package mutating func fill(_ lines: [UInt8], arrival: Timestamp? = nil) {
        self.lines = lines[...]
        self.arrival = arrival
    }

    /// Validates the next part.
    ///
    /// - Throws: if there is not enough memory for a line; an invalid line is a rejection, not an error.
    package mutating func check() throws -> CheckedBody {
        let end = endOfPart
        let part = lines[..<end]
        lines = lines[end...]
        return try part.withUnsafeBytes { try validator.check(lines: $0, arrival: arrival) }
    }

    private var endOfPart: Int {
        guard maximumLines < .max else { return lines.endIndex }
        var count = 0
        for (index, byte) in zip(lines.indices, lines) where byte == UInt8(ascii: "\n") {
            count += 1
            if count == maximumLines { return index + 1 }
        }
        return lines.endIndex
    }
}
