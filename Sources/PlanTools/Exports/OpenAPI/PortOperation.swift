import EventSchema

/// A method of a path of the port.
struct PortOperation {
    typealias Members = OrderedJSON.Members

    var method: String
    let tag: String
    var summary: String
    var description: String?
    var parameters: [OrderedJSON] = []
    /// The schemas of the body, by media type; `nil` if the operation takes none.
    var content: Members?
    /// The successful responses, by status.
    var responses: Members
    /// How the operation fails.
    let failures: FailureGroup
    /// The names of the ways to state a key; empty if it needs none, or has it in its path.
    var keys: [String] = []
    /// Whether the key may also be where no security scheme can describe it.
    var hasKeyElsewhere = false

    /// The operation in OpenAPI.
    func json(_ path: String, isOpen: Bool) -> OrderedJSON {
        var members: Members = [
            ("operationId", .string(identifier(of: path))), ("tags", [.string(tag)]), ("summary", .string(summary)),
        ]
        if let description { members.append(("description", .string(description))) }
        if !parameters.isEmpty { members.append(("parameters", .array(parameters))) }
        if let content {
            let types = content.map { type, schema in (key: type, value: ["schema": schema] as OrderedJSON) }
            members.append(("requestBody", ["required": true, "content": .object(types)]))
        }
        let all = responses + OpenAPIResponses.references(failures, isOpen: isOpen)
        members.append(("responses", .object(all.sorted { $0.key < $1.key })))
        if !isOpen { members.append(("security", security)) }
        return .object(members)
    }

    /// One of the schemes; `{}` means none.
    private var security: OrderedJSON {
        .array(keys.map { .object([($0, .array([]))]) } + (hasKeyElsewhere ? [.object([])] : []))
    }

    /// The method and the words of the path; a slash at the end counts.
    private func identifier(of path: String) -> String {
        let words = path.split { !$0.isLetter && !$0.isNumber }.joined(separator: "_")
        return "\(method)_\(words)" + (path.hasSuffix("/") ? "_slash" : "")
    }
}

extension PortOperation {
    /// The CORS preflight request of a path.
    static func preflight(
        _ tag: String,
        parameters: [OrderedJSON] = [],
        failures: FailureGroup = .preflight
    ) -> PortOperation {
        PortOperation(
            method: "options",
            tag: tag,
            summary: "Ask whether a web page may send (CORS preflight)",
            description: "Browsers ask by themselves. Without `Access-Control-Request-Method` it is 405.",
            parameters: parameters + OpenAPIParameters.references("Origin", "RequestMethod", "RequestHeaders"),
            responses: [
                (
                    "204",
                    [
                        "description": "Web pages of this origin may send the request.",
                        "headers": .object(OpenAPIHeaders.ofWebPages + OpenAPIHeaders.ofPreflight),
                    ]
                )
            ],
            failures: failures
        )
    }

    /// The same without a body in the answer.
    var head: PortOperation {
        var head = self
        head.method = "head"
        head.summary += ", without the body"
        return head
    }
}
