import EventValidation

/// Why an event cannot be stored.
///
/// It names keys and kinds of values, never a value.
struct RecordError: Error, CustomStringConvertible {
    let description: String

    /// A value of a type that cannot be read back.
    static func unstorable(_ type: Any.Type, at path: [String]) -> RecordError {
        RecordError(
            description: "\(place(path)) is a \(type), which cannot be stored. "
                + "Use text, numbers, truth values, dates, data, URLs, UUIDs, NSNull, and arrays and dictionaries of them."
        )
    }

    /// Dictionaries and arrays nested too deeply.
    static func tooDeep(at path: [String]) -> RecordError {
        RecordError(
            description: "\(place(Array(path.prefix(3)))) nests deeper than \(RecordWriter.maximumDepth) levels."
        )
    }

    /// The event violates rules of the validation.
    static func violations(_ violations: [Violation]) -> RecordError {
        let sentences = violations.map { "\($0.path) must be \($0.expected), and is \($0.found) [\($0.code.rawValue)]" }
        return RecordError(description: sentences.joined(separator: "; "))
    }

    /// The disk is too slow, or hangs.
    static let spoolStandsStill = RecordError(description: "the disk does not take it, and too many others wait for it")

    /// The tracker was unloaded at the same time.
    static let trackerUnloaded = RecordError(description: "its tracker is unloaded")

    private static func place(_ path: [String]) -> String {
        path.isEmpty ? "the payload" : "'\(path.joined(separator: "."))' in the payload"
    }
}
