/// A part of a `JSONValue` that JSON does not have, or that not every tracker can store.
@_spi(CanonicalJSON)
public struct JSONValueProblem: Sendable {
    /// What is wrong with the part.
    public enum Kind: Sendable {
        /// A text has a NUL character.
        case nul
        /// A number is infinite, or NaN.
        case notFinite
        /// An object or array is nested more deeply than `EventLimits.maximumDepth`.
        case tooDeep
    }

    /// What is wrong with the part.
    public let kind: Kind
    /// The path from the value to the part, as RFC 9535 writes it; empty if the value itself is the part.
    public fileprivate(set) var path = ""
}

@_spi(CanonicalJSON)
extension ByteBuilder {
    /// Appends a value that no plan describes, in its canonical form.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - depth: The depth of the object or array that contains the value; an event has depth 1.
    /// - Returns: The first problems, at most `EventLimits.maximumViolations`. If there are any, the appended bytes must be discarded.
    public mutating func append(_ value: JSONValue, depth: Int) -> [JSONValueProblem] {
        var problems: [JSONValueProblem] = []
        append(value, depth, &problems)
        return problems
    }

    private mutating func append(_ value: JSONValue, _ depth: Int, _ problems: inout [JSONValueProblem]) {
        switch value {
        case .null: append("null")
        case .boolean(let truth): if truth { append("true") } else { append("false") }
        case .integer(let number): append(number)
        case .number(let number):
            guard number.isFinite else { return problems.note(.notFinite) }
            append(number)
        case .string(let text): append(text, &problems)
        case .array(let values): append(values, depth, &problems)
        case .object(let members): append(members, depth, &problems)
        }
    }

    private mutating func append(_ text: String, _ problems: inout [JSONValueProblem]) {
        var text = text
        let found = text.withUTF8 { appendUnpaddedString(UnsafeRawBufferPointer($0)) }
        if !found.isEmpty { problems.note(.nul) }
    }

    private mutating func append(_ values: [JSONValue], _ depth: Int, _ problems: inout [JSONValueProblem]) {
        guard depth < EventLimits.maximumDepth else { return problems.note(.tooDeep) }
        append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { append(UInt8(ascii: ",")) }
            let known = problems.count
            append(value, depth + 1, &problems)
            if problems.count > known { problems.prefixPaths(from: known, with: "[\(index)]") }
        }
        append(UInt8(ascii: "]"))
    }

    private mutating func append(_ members: [String: JSONValue], _ depth: Int, _ problems: inout [JSONValueProblem]) {
        guard depth < EventLimits.maximumDepth else { return problems.note(.tooDeep) }
        append(UInt8(ascii: "{"))
        for (index, (key, value)) in members.inCanonicalOrder.enumerated() {
            if index > 0 { append(UInt8(ascii: ",")) }
            let known = problems.count
            append(key, &problems)
            append(UInt8(ascii: ":"))
            append(value, depth + 1, &problems)
            if problems.count > known { problems.prefixPaths(from: known, with: JSONPath.step(toKey: key)) }
        }
        append(UInt8(ascii: "}"))
    }
}

extension [JSONValueProblem] {
    fileprivate mutating func note(_ kind: JSONValueProblem.Kind) {
        if count < EventLimits.maximumViolations { append(JSONValueProblem(kind: kind)) }
    }

    fileprivate mutating func prefixPaths(from first: Int, with step: String) {
        for index in first..<count { self[index].path = step + self[index].path }
    }
}

@_spi(CanonicalJSON)
extension [String: JSONValue] {
    /// The members ordered by the UTF-8 of their keys, so that equal objects are encoded alike.
    public var inCanonicalOrder: [(key: String, value: JSONValue)] {
        sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}
