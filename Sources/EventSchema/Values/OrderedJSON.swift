import EventModel

/// JSON that keeps the order of members and the digits of numbers, for files that people read and compare.
package indirect enum OrderedJSON: Sendable {
    case null
    case boolean(Bool)
    /// The number's text in JSON's grammar.
    case number(String)
    case string(String)
    case array([OrderedJSON])
    case object([(key: String, value: OrderedJSON)])

    package static func strings(_ texts: [String]) -> OrderedJSON { .array(texts.map(OrderedJSON.string)) }

    package static func integer(_ number: some BinaryInteger) -> OrderedJSON { .number(String(number)) }

    /// Converts a value of the plan to what an event would have.
    package init(_ value: PlanValue) {
        switch value {
        case .string(let text): self = .string(text)
        case .integer(let number): self = .integer(number)
        case .number(let number): self = .number(PlanValue.digits(of: number))
        case .boolean(let truth): self = .boolean(truth)
        case .array(let values): self = .array(values.map(OrderedJSON.init))
        case .object(let members): self = .object(members.map { ($0.key, OrderedJSON($0.value)) })
        }
    }
}

// MARK: - Text

extension OrderedJSON {
    /// The JSON on one line, with a space after each comma and colon.
    package var line: String {
        switch self {
        case .null: "null"
        case .boolean(let truth): truth ? "true" : "false"
        case .number(let digits): digits
        case .string(let text): JSONString.quoted(text)
        case .array(let elements): "[" + elements.map(\.line).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\(JSONString.quoted($0.key)): \($0.value.line)" }.joined(separator: ", ") + "}"
        }
    }

    /// The JSON on several lines, indented by two spaces; short lists of scalars stay on one line.
    package var lines: String {
        var text = ""
        append(to: &text, indentation: "")
        return text
    }

    private static let longestLine = 100

    private func append(to text: inout String, indentation: String) {
        let inner = indentation + "  "
        switch self {
        case .array(let elements) where !isShortList:
            Self.append(elements, to: &text, indentation, "[", "]") { element, text in
                element.append(to: &text, indentation: inner)
            }
        case .object(let members) where !members.isEmpty:
            Self.append(members, to: &text, indentation, "{", "}") { member, text in
                text += JSONString.quoted(member.key) + ": "
                member.value.append(to: &text, indentation: inner)
            }
        default:
            text += line
        }
    }

    private static func append<Part>(
        _ parts: [Part],
        to text: inout String,
        _ indentation: String,
        _ opening: String,
        _ closing: String,
        _ appendPart: (Part, inout String) -> Void
    ) {
        text += opening
        for (index, part) in parts.enumerated() {
            text += (index > 0 ? "," : "") + "\n" + indentation + "  "
            appendPart(part, &text)
        }
        text += "\n" + indentation + closing
    }

    private var isShortList: Bool {
        guard case .array(let elements) = self else { return false }
        let isPlain = elements.allSatisfy { element in
            switch element {
            case .array, .object: false
            default: true
            }
        }
        return elements.isEmpty || isPlain && line.count <= Self.longestLine
    }
}

// MARK: - Literals

extension OrderedJSON: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) { self = .string(text) }
}

extension OrderedJSON: ExpressibleByIntegerLiteral {
    package init(integerLiteral number: Int) { self = .integer(number) }
}

extension OrderedJSON: ExpressibleByBooleanLiteral {
    package init(booleanLiteral truth: Bool) { self = .boolean(truth) }
}

extension OrderedJSON: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: OrderedJSON...) { self = .array(elements) }
}

extension OrderedJSON: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral members: (String, OrderedJSON)...) {
        self = .object(members.map { (key: $0.0, value: $0.1) })
    }
}
