package import EventSchema

/// An OpenAPI 3.1 document of everything that `sluice serve` answers on its public port, for developers of clients.
///
/// It describes the port by itself, without the server's code; tests compare its paths and codes with those that the server has,
/// and its answers with those of a running server.
package struct OpenAPIExport: Sendable {
    /// The server's limits that the descriptions name.
    package struct Limits: Sendable {
        package var bodyBytes: Int
        package var events: Int
        package var rejections: Int
        package var explainedRejections: Int
        package var answerBytes: Int
        package var planBytes: Int
        package var headerBytes: Int
        package var headerFields: Int

        package init(
            bodyBytes: Int,
            events: Int,
            rejections: Int,
            explainedRejections: Int,
            answerBytes: Int,
            planBytes: Int,
            headerBytes: Int,
            headerFields: Int
        ) {
            self.bodyBytes = bodyBytes
            self.events = events
            self.rejections = rejections
            self.explainedRejections = explainedRejections
            self.answerBytes = answerBytes
            self.planBytes = planBytes
            self.headerBytes = headerBytes
            self.headerFields = headerFields
        }
    }

    private let plan: TrackingPlan
    private let limits: Limits
    private let server: String
    private let isOpen: Bool

    /// Prepares the export of a valid plan; `server` is a URL, and with `isOpen` that server accepts events without keys.
    package init(_ plan: TrackingPlan, limits: Limits, server: String = "/", isOpen: Bool = false) {
        self.plan = plan
        self.limits = limits
        self.server = server
        self.isOpen = isOpen
    }

    /// The document.
    package var text: String { document.lines + "\n" }

    /// The paths that the document describes.
    package static let paths = PortPaths.all.map(\.path)

    private var document: OrderedJSON {
        let paths = PortPaths.all.map { path, operations in
            (key: path, value: OrderedJSON.object(operations.map { ($0.method, $0.json(path, isOpen: isOpen)) }))
        }
        var components: OrderedJSON.Members = [
            ("schemas", .object(OpenAPISchemas.all(of: plan, limits))),
            ("responses", .object(OpenAPIResponses.all(isOpen: isOpen))), ("headers", .object(OpenAPIHeaders.all)),
            ("parameters", .object(OpenAPIParameters.all)),
        ]
        if !isOpen { components.append(("securitySchemes", .object(OpenAPISecurity.schemes))) }
        return [
            "openapi": "3.1.0", "info": info, "servers": [["url": .string(server)]],
            "tags": .array(PortPaths.tags.map { ["name": .string($0.name), "description": .string($0.description)] }),
            "paths": .object(paths), "components": .object(components),
        ]
    }

    private var info: OrderedJSON {
        [
            "title": "Sluice: the public port", "version": .string(plan.version ?? "0"),
            "summary": "Accepts events that follow the tracking plan, with a verdict for each of them.",
            "description": .string(description), "license": ["name": "Apache 2.0", "identifier": "Apache-2.0"],
        ]
    }

    private var description: String {
        let access =
            isOpen
            ? "This server accepts events without keys."
            : "Requests need a write key; an endpoint of other clients also takes it from the body, where the client writes it."
        return """
            \(access) Web pages may send and read the answers if their origin is one that a key allows (CORS).

            Any other path is 404 (`not-found`), and any other method 405 (`method-not-allowed`, with `Allow`). Each limit is a \
            setting of the server; the descriptions name the defaults. The target and the fields of a request's header may have \
            \(limits.headerBytes) bytes and \(limits.headerFields) fields. A body may be compressed with `Content-Encoding: gzip`, \
            and may have \(limits.bodyBytes) bytes, as sent and inflated, and \(limits.events) events, of which \
            \(limits.rejections) may be rejected; the clients of Segment, RudderStack and PostHog get 200 beyond these two \
            limits, and the rest of the events is rejected. Send a request again after a status with `Retry-After`; events that have ids of \
            their own can be sent again without harm.
            """
    }
}
