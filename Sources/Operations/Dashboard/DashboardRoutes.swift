import HTTPTypes
import Hummingbird

/// The page that shows what the process does, and its data.
struct DashboardRoutes: Sendable {
    let pipeline: any OperatedPipeline
    let history: MetricHistory
    let status: @Sendable () -> StatusReport
    /// Whether quarantined events can be sent again.
    let canReplay: Bool

    /// Adds the paths to a router; the page has a button to log out if `hasLogin`.
    func add(to router: Hummingbird.Router<OperationsContext>, hasLogin: Bool) {
        let page = String(decoding: PackageResources.dashboard_html, as: UTF8.self)
            .replacing("<!--logout-->", with: hasLogin ? Self.logout : "")
        router.get("/") { _, _ in Response.text(page, contentType: "text/html; charset=utf-8") }
        router.get("/dashboard.css") { _, _ in
            Self.file(PackageResources.dashboard_css, "text/css; charset=utf-8")
        }
        router.get("/dashboard.js") { _, _ in
            Self.file(PackageResources.dashboard_js, "text/javascript; charset=utf-8")
        }
        router.get("/v1/dashboard") { request, _ in
            let number = request.uri.queryParameters["from"].flatMap { Int($0) } ?? 0
            let report = DashboardReport(
                pipeline,
                status: status(),
                canReplay: canReplay,
                started: history.started,
                samples: history.samples(from: number)
            )
            return Response.text(try report.jsonLine + "\n", contentType: "application/json")
        }
    }

    private static let logout = #"<form method="post" action="/logout"><button>Log out</button></form>"#

    private static func file(_ bytes: [UInt8], _ type: String) -> Response {
        .text(String(decoding: bytes, as: UTF8.self), contentType: type)
    }
}
