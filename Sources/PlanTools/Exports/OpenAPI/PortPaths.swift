import EventSchema
import PortDefinitions

/// The paths of the port with their operations.
enum PortPaths {
    typealias Members = OrderedJSON.Members
    typealias Path = (path: String, operations: [PortOperation])

    /// The tags, in the order of the document.
    static let tags = [
        (name: events, description: "Sending events in Sluice's own format, or as CloudEvents 1.0."),
        (name: plan, description: "What may be sent."),
        (name: health, description: "Whether the server runs, and accepts events."),
        (name: segment, description: "What the SDKs of Segment and RudderStack send and load."),
        (name: posthog, description: "What the SDKs of PostHog send."),
    ]
    private static let events = "Events"
    private static let plan = "Plan"
    private static let health = "Health"
    private static let segment = "Segment and RudderStack"
    private static let posthog = "PostHog"

    /// All paths.
    static let all: [Path] = ownPaths + segmentPaths + settingsPaths + posthogPaths

    // MARK: Sluice's own resources

    private static let ownPaths: [Path] = [
        (
            "/v1/events",
            [
                sending("Send events", "Accepts one event, an array of events, or NDJSON: one event a line."),
                .preflight(events),
            ]
        ),
        (
            "/v1/validate",
            [sending("Check events", "Answers as `/v1/events` would, and stores nothing."), .preflight(events)]
        ),
        ("/v1/plan", [schema, schema.head, .preflight(plan)]),
        ("/livez", [check("Whether the process runs", .live), check("Whether the process runs", .live).head]),
        ("/readyz", [check("Whether events are accepted", .ready), check("Whether events are accepted", .ready).head]),
    ]

    private static func sending(_ summary: String, _ description: String) -> PortOperation {
        PortOperation(
            method: "post",
            tag: events,
            summary: summary,
            description: description
                + " `text/plain` is JSON, which web pages send without a preflight request. With header fields `ce-…` the "
                + "body is the data of a CloudEvent in binary mode.",
            parameters: OpenAPIParameters.references("Strict", "ContentEncoding", "Origin")
                + OpenAPIParameters.ofCloudEvents,
            content: [
                ("application/json", .schema("Events")), ("text/plain", ["type": "string"]),
                ("application/x-ndjson", ["type": "string"]), ("application/cloudevents+json", .schema("CloudEvent")),
                ("application/cloudevents-batch+json", ["type": "array", "items": .schema("CloudEvent")]),
            ],
            responses: [
                (
                    "200",
                    OpenAPIResponses.success(
                        "At least one event was accepted.",
                        .schema("Verdicts"),
                        headers: OpenAPIHeaders.ofAcceptance
                    )
                ),
                (
                    "422",
                    OpenAPIResponses.success(
                        "No event was accepted. For CloudEvents, if the request is strict:\n\n" + strict,
                        ["anyOf": [.schema("Verdicts"), .schema("CloudEventRefusal")]]
                    )
                ),
            ],
            failures: .events,
            keys: ["bearer", "basic", "key"]
        )
    }

    private static let schema: PortOperation = {
        let headers = OpenAPIHeaders.references("ETag", "Cache-Control")
        return PortOperation(
            method: "get",
            tag: plan,
            summary: "The JSON Schema of what may be sent",
            description: "It describes the events that the key may send, or all events.",
            parameters: OpenAPIParameters.references("IfNoneMatch", "Origin"),
            responses: [
                (
                    "200",
                    OpenAPIResponses.success(
                        "The JSON Schema (draft 2020-12) of an event.",
                        ["type": "object"],
                        type: "application/schema+json",
                        headers: headers
                    )
                ),
                (
                    "304",
                    [
                        "description": "The sender has the current schema.",
                        "headers": .object(headers + OpenAPIHeaders.ofWebPages),
                    ]
                ),
            ],
            failures: .plan,
            keys: ["bearer", "basic", "key"]
        )
    }()

    private static func check(_ summary: String, _ failures: FailureGroup) -> PortOperation {
        PortOperation(
            method: "get",
            tag: health,
            summary: summary,
            responses: [("200", OpenAPIResponses.success("Yes.", .schema("Health")))],
            failures: failures
        )
    }

    // MARK: Those of other clients

    private static let segmentPaths: [Path] = ["/v1/", "/beacon/v1/"].flatMap { prefix in
        ["batch", "b", "import"].map { segmentPath(prefix + $0, body: "SegmentBatch") }
            + ["track", "identify", "page", "screen", "group", "alias"].flatMap { kind in
                [kind, String(kind.prefix(1))].map { segmentPath(prefix + $0, body: "SegmentMessages") }
            }
    }

    private static func segmentPath(_ path: String, body: String) -> Path {
        let post = PortOperation(
            method: "post",
            tag: segment,
            summary: "Send messages of Segment's HTTP Tracking API",
            description: "The key may also be `writeKey` in the body.",
            parameters: OpenAPIParameters.references("Strict", "ContentEncoding", "Origin"),
            content: [("application/json", .schema(body)), ("text/plain", ["type": "string"])],
            responses: checked("SegmentVerdicts", refusal: "SegmentRefusal"),
            failures: .segment,
            keys: ["bearer", "basic", "writeKey"],
            hasKeyElsewhere: true
        )
        return (path, [post, .preflight(segment, failures: .segmentPreflight)])
    }

    private static let posthogPaths: [Path] = ["/batch", "/capture", "/e", "/i/v0/e", "/i/v1/analytics/events"]
        .flatMap { path in
            let answer = path.hasPrefix("/i/v1/") ? "PostHogResults" : "PostHogVerdicts"
            return [posthogPath(path, answer: answer), posthogPath(path + "/", answer: answer)]
        }

    private static func posthogPath(_ path: String, answer: String) -> Path {
        let post = PortOperation(
            method: "post",
            tag: posthog,
            summary: "Send events of PostHog's capture API",
            description:
                "The key may also be `api_key` or `token` in the body. gzip is recognized without a header field.",
            parameters: OpenAPIParameters.references("Strict", "ContentEncoding", "Origin"),
            content: [
                ("application/json", .schema("PostHogEvents")), ("text/plain", ["type": "string"]),
                ("application/x-www-form-urlencoded", .schema("PostHogForm")),
            ],
            responses: checked(answer, refusal: "PostHogRefusal"),
            failures: .posthog,
            keys: ["bearer", "basic"],
            hasKeyElsewhere: true
        )
        return (path, [post, .preflight(posthog, failures: .posthogPreflight)])
    }

    /// The answers to a body that was checked.
    private static func checked(_ answer: String, refusal: String) -> Members {
        let description = "The body was checked; `accepted` says how many of its events were accepted."
        return [
            ("200", OpenAPIResponses.success(description, .schema(answer), headers: OpenAPIHeaders.ofAcceptance)),
            ("422", OpenAPIResponses.success(strict, .schema(refusal))),
        ]
    }

    /// The code of the answer to a strict request with rejected events.
    private static let strict = OpenAPIResponses.meanings(of: [.rejectedEvents])

    // MARK: Their settings

    private static let settingsPaths: [Path] = {
        let key: OrderedJSON = [
            "name": "key", "in": "path", "required": true, "description": "The write key.",
            "schema": ["type": "string", "minLength": 1],
        ]
        var ofSegment = settings("The settings of Segment's analytics.js", keys: [])
        ofSegment.parameters.append(key)
        ofSegment.hasKeyElsewhere = true
        let ofRudderStack = settings(
            "The settings of RudderStack's client for browsers",
            keys: ["bearer", "basic", "writeKey"]
        )
        return [
            ("/v1/projects/{key}/settings", [ofSegment, .preflight(segment, parameters: [key])]),
            ("/sourceConfig", [ofRudderStack, .preflight(segment)]),
        ]
    }()

    private static func settings(_ summary: String, keys: [String]) -> PortOperation {
        PortOperation(
            method: "get",
            tag: segment,
            summary: summary,
            description: "They make the client send to this server, and have no destinations of their own.",
            parameters: OpenAPIParameters.references("Origin"),
            responses: [
                (
                    "200",
                    OpenAPIResponses.success(
                        "The settings.",
                        ["type": "object"],
                        headers: OpenAPIHeaders.references("Cache-Control")
                    )
                )
            ],
            failures: .settings,
            keys: keys
        )
    }
}
