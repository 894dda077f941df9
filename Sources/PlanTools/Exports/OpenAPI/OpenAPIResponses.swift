import EventSchema
import PortDefinitions

extension OrderedJSON {
    typealias Members = [(key: String, value: OrderedJSON)]

    /// The schema of an object that has these members and no others.
    static func closedObject(_ members: Members) -> OrderedJSON {
        [
            "type": "object", "properties": .object(members), "required": .strings(members.map(\.key)),
            "additionalProperties": false,
        ]
    }

    /// A reference to a component.
    static func component(_ kind: String, _ name: String) -> OrderedJSON {
        ["$ref": "#/components/\(kind)/\(name)"]
    }

    static func schema(_ name: String) -> OrderedJSON { component("schemas", name) }
}

/// The answers to failed requests, and what all answers have in common.
enum OpenAPIResponses {
    /// The responses of all groups.
    static func all(isOpen: Bool) -> OrderedJSON.Members {
        FailureGroup.allCases.flatMap { group in
            group.failures(isOpen: isOpen).map { status, failures in
                (key: name(group, status), value: response(status, failures, group))
            }
        }
    }

    /// References to the responses of a group, by their statuses.
    static func references(_ group: FailureGroup, isOpen: Bool) -> OrderedJSON.Members {
        group.failures(isOpen: isOpen).map { status, _ in
            ("\(status)", .component("responses", name(group, status)))
        }
    }

    /// A successful response with a JSON body.
    static func success(
        _ description: String,
        _ schema: OrderedJSON,
        type: String = "application/json",
        headers: OrderedJSON.Members = []
    ) -> OrderedJSON {
        [
            "description": .string(description), "headers": .object(headers + OpenAPIHeaders.ofWebPages),
            "content": .object([(key: type, value: .object([("schema", schema)]))]),
        ]
    }

    /// What failures mean, as a list.
    static func meanings(of failures: [FailureCode]) -> String {
        failures.map { "- `\($0.rawValue)`: \($0.meaning)" }.joined(separator: "\n")
    }

    private static func name(_ group: FailureGroup, _ status: Int) -> String { "\(group.rawValue)-\(status)" }

    private static func response(_ status: Int, _ failures: [FailureCode], _ group: FailureGroup) -> OrderedJSON {
        let schemas = group.forms.map { $0.schema(failures.map(\.rawValue)) }
        return success(
            meanings(of: failures),
            schemas.count == 1 ? schemas[0] : ["anyOf": .array(schemas)],
            headers: OpenAPIHeaders.ofFailure(status)
        )
    }
}

/// The header fields of answers.
enum OpenAPIHeaders {
    static let all: OrderedJSON.Members = [
        (
            "Retry-After",
            header(
                "After how many seconds to send the request again.",
                ["type": "integer", "minimum": 1],
                required: true
            )
        ),
        (
            "Sluice-Acknowledged",
            header(
                """
                Only of a server with `relay.acknowledge: brokers`: `delivered` if the brokers have the accepted events, `stored` if \
                only the server's journal has them.
                """,
                ["type": "string", "enum": ["delivered", "stored"]],
                required: false
            )
        ),
        ("WWW-Authenticate", header("How to authenticate.", ["const": "Bearer"], required: true)),
        ("Allow", header("The methods of the path.", ["type": "string"], required: true)),
        ("Accept-Encoding", header("The encoding that is supported.", ["const": "gzip"], required: false)),
        (
            "ETag",
            header(
                "A strong entity tag: the SHA-256 digest of the schema, in quotes.",
                ["type": "string", "pattern": #"^"[0-9a-f]{64}"$"#],
                required: true
            )
        ),
        ("Cache-Control", header("How long the answer may be kept.", ["type": "string"], required: true)),
        (
            "Access-Control-Allow-Origin",
            header("The origin of the web page, if it may read the answer.", ["type": "string"], required: false)
        ),
        (
            "Access-Control-Allow-Credentials",
            header("Whether the web page may send cookies.", ["const": "true"], required: false)
        ),
        (
            "Access-Control-Expose-Headers",
            header("The header fields that the web page may read.", ["type": "string"], required: false)
        ),
        (
            "Access-Control-Allow-Methods",
            header("The methods that the web page may use.", ["type": "string"], required: true)
        ),
        (
            "Access-Control-Allow-Headers",
            header("The header fields that the web page may send.", ["type": "string"], required: true)
        ),
        (
            "Access-Control-Max-Age",
            header("For how many seconds the browser may keep this answer.", ["type": "integer"], required: true)
        ),
        (
            "Vary",
            header("The header fields of the request that the answer depends on.", ["type": "string"], required: false)
        ),
        (
            "X-RateLimit-Reset",
            header("`Retry-After` once more, for Segment's client for browsers.", ["type": "integer"], required: false)
        ),
    ]

    /// What every answer to a web page has.
    static let ofWebPages = references(
        "Access-Control-Allow-Origin",
        "Access-Control-Allow-Credentials",
        "Access-Control-Expose-Headers",
        "Vary"
    )

    static let ofAcceptance = references("Sluice-Acknowledged")

    static let ofPreflight = references(
        "Access-Control-Allow-Methods",
        "Access-Control-Allow-Headers",
        "Access-Control-Max-Age"
    )

    static func ofFailure(_ status: Int) -> OrderedJSON.Members {
        switch status {
        case 401: references("WWW-Authenticate")
        case 405: references("Allow")
        case 415: references("Accept-Encoding")
        case 429: references("Retry-After", "X-RateLimit-Reset")
        case 503: references("Retry-After")
        default: []
        }
    }

    static func references(_ names: String...) -> OrderedJSON.Members {
        names.map { ($0, .component("headers", $0)) }
    }

    private static func header(_ description: String, _ schema: OrderedJSON, required: Bool) -> OrderedJSON {
        ["description": .string(description), "required": .boolean(required), "schema": schema]
    }
}
