import JSONTape

/// What is said of texts that never reach the plan.
extension EventValidator {
    static func tooLarge(_ text: UnsafeRawBufferPointer) -> Violation {
        Violation(
            code: .tooLarge,
            path: "$",
            expected: "at most \(maximumEventBytes) bytes",
            found: "\(text.count) bytes"
        )
    }

    /// What is wrong with a text that the parser did not take; `malformedJSON` is for what breaks JSON's grammar alone.
    ///
    /// - Throws: Where the text is not what was wrong.
    static func violation(of text: UnsafeRawBufferPointer, error: JSONError) throws(UncheckedBody) -> Violation {
        if error == .number, try hasOnlyOversizedNumbers(text) {
            return Violation(
                code: .outOfRange,
                path: "$",
                expected: "numbers within a double, and whole numbers within 64 bits",
                found: "a number beyond"
            )
        }
        if error == .depth {
            return Violation(
                code: .tooDeep,
                path: "$",
                expected: "at most \(EventCheck.maximumDepth) levels of nesting",
                found: "more"
            )
        }
        let found = try description(of: error)
        return Violation(code: .malformedJSON, path: "$", expected: "JSON (RFC 8259)", found: found)
    }

    private static func hasOnlyOversizedNumbers(_ text: UnsafeRawBufferPointer) throws(UncheckedBody) -> Bool {
        do throws(JSONError) {
            return try JSONElements.hasOnlyOversizedNumbers(text)
        } catch {
            throw UncheckedBody()
        }
    }

    private static func description(of error: JSONError) throws(UncheckedBody) -> String {
        switch error {
        case .empty: "nothing"
        case .string: "a string that is not closed, or has a raw control character or a broken escape"
        case .number: "a number with a broken form"
        case .encoding: "bytes that are not UTF-8"
        case .memory: throw UncheckedBody()
        case .syntax, .depth: "a text with broken structure"
        }
    }
}
