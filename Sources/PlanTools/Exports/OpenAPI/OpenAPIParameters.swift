import EventSchema

/// The parameters of requests.
enum OpenAPIParameters {
    static let all: OrderedJSON.Members = [
        (
            "Strict",
            header(
                "Sluice-Strict",
                "With `true`, one rejected event keeps the others from being accepted.",
                ["type": "string", "enum": ["true", "false"]]
            )
        ),
        (
            "ContentEncoding",
            header(
                "Content-Encoding",
                "How the body is compressed.",
                ["type": "string", "enum": ["gzip", "identity"]]
            )
        ),
        ("Origin", header("Origin", "The origin of the web page that sends; browsers add it.", ["type": "string"])),
        (
            "IfNoneMatch",
            header("If-None-Match", "The entity tags of the schemas that the sender has.", ["type": "string"])
        ),
        (
            "RequestMethod",
            header(
                "Access-Control-Request-Method",
                "The method of the request that the browser wants to send.",
                ["type": "string", "enum": ["GET", "POST"]]
            )
        ),
        (
            "RequestHeaders",
            header(
                "Access-Control-Request-Headers",
                "The header fields of the request that the browser wants to send, separated by commas.",
                ["type": "string"]
            )
        ),
        ("ce-specversion", header("ce-specversion", "The version of a CloudEvent in binary mode.", ["const": "1.0"])),
        ("ce-id", header("ce-id", "The id of a CloudEvent in binary mode.", ["type": "string", "minLength": 1])),
        ("ce-source", header("ce-source", "The source of a CloudEvent in binary mode.", ["type": "string"])),
        ("ce-type", header("ce-type", "The event's name, in binary mode.", ["type": "string", "minLength": 1])),
        ("ce-time", header("ce-time", "When it happened, in binary mode.", ["type": "string", "format": "date-time"])),
        ("ce-subject", header("ce-subject", "The subject of a CloudEvent in binary mode.", ["type": "string"])),
    ]

    /// The attributes of a CloudEvent in binary mode.
    static let ofCloudEvents = references("ce-specversion", "ce-id", "ce-source", "ce-type", "ce-time", "ce-subject")

    static func references(_ names: String...) -> [OrderedJSON] {
        names.map { .component("parameters", $0) }
    }

    private static func header(_ name: String, _ description: String, _ schema: OrderedJSON) -> OrderedJSON {
        ["name": .string(name), "in": "header", "description": .string(description), "schema": schema]
    }
}

/// The ways to state a write key.
enum OpenAPISecurity {
    static let schemes: OrderedJSON.Members = [
        ("bearer", ["type": "http", "scheme": "bearer", "description": "The write key."]),
        (
            "basic",
            [
                "type": "http", "scheme": "basic",
                "description": "The write key as the user name; the password is ignored.",
            ]
        ),
        ("key", query("key", "The write key, where no header can be set, as in `navigator.sendBeacon`.")),
        ("writeKey", query("writeKey", "The write key, for the clients of Segment and RudderStack.")),
    ]

    private static func query(_ name: String, _ description: String) -> OrderedJSON {
        ["type": "apiKey", "in": "query", "name": .string(name), "description": .string(description)]
    }
}
