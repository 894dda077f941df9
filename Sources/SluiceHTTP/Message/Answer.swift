package import NIOHTTP1

/// A response, before it is encoded for the connection's version of HTTP.
package struct Answer {
    /// The status line's code and phrase.
    package let status: StaticString
    /// The header fields besides those that describe the body and the connection; their names are in lower case.
    package var fields: HTTPHeaders = [:]
    /// The media type of the body.
    var contentType: StaticString = "application/json"
    /// The body; `nil` if the status allows none.
    package let body: [UInt8]?
}
