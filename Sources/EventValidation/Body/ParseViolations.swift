@_spi(CanonicalJSON) import EventModel
import JSONTape

// Violations of texts that are rejected before they are compared with the plan.
extension Violation {
    static func tooLarge(_ text: UnsafeRawBufferPointer) -> Violation {
        Violation(
            code: .tooLarge,
            path: "$",
            expected: "at most \(EventValidator.maximumEventBytes) bytes",
            found: "\(text.count) bytes"
        )
    }

    /// What is wrong with a text that the parser refused; only invalid JSON is `malformedJSON`.
    ///
    /// - Throws: `UncheckedBody` if there was not enough memory to find out.
    static func of(_ error: JSONError) throws(UncheckedBody) -> Violation {
        if error == .depth {
            return Violation(
                code: .tooDeep,
                path: "$",
                expected: EventLimits.depthInWords,
                found: "more"
            )
        }
        let found = try description(of: error)
        return Violation(code: .malformedJSON, path: "$", expected: "JSON (RFC 8259)", found: found)
    }

    private static func description(of error: JSONError) throws(UncheckedBody) -> String {
        switch error {
        case .empty: "nothing"
        case .string: "a string that is not closed, or contains a control character or an invalid escape"
        case .number: "an invalid number"
        case .encoding: "bytes that are not UTF-8"
        case .memory: throw UncheckedBody()
        case .syntax, .depth: "invalid syntax"
        }
    }
}
