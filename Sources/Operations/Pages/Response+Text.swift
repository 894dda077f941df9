import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    /// A response with a text.
    static func text(
        _ text: String,
        status: HTTPResponse.Status = .ok,
        contentType: String = "text/plain; charset=utf-8"
    ) -> Response {
        Response(
            status: status,
            headers: [.contentType: contentType],
            body: .init(byteBuffer: ByteBuffer(string: text))
        )
    }

    /// A page; `body` is HTML.
    static func page(_ title: String, _ body: String, status: HTTPResponse.Status = .ok) -> Response {
        let html = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(title)</title>
            <h1>\(title)</h1>
            \(body)
            </html>

            """
        return .text(html, status: status, contentType: "text/html; charset=utf-8")
    }
}
