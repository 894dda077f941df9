/// The media types that at least one endpoint accepts.
enum MediaType {
    /// `application/json`: one document.
    case json
    /// `application/x-ndjson`: one document a line.
    case lines
    /// `text/plain`: JSON of browsers, which send it to another origin without a CORS preflight request.
    case text

    /// `application/x-www-form-urlencoded`: a form with a field that contains JSON.
    case form

    /// `application/cloudevents+json`: one CloudEvent.
    case cloudEvent
    /// `application/cloudevents-batch+json`: an array of CloudEvents.
    case cloudEvents

    /// The type that a `Content-Type` names; `nil` if it is none of these, or not in UTF-8.
    init?(_ contentType: String) {
        if let type = Self(essence: contentType.utf8[...]) {
            self = type
            return
        }
        var parts = contentType.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let essence = parts.popFirst()?.trimmingSpace, parts.allSatisfy({ Self.isAcceptable(parameter: $0) })
        else {
            return nil
        }
        self.init(essence: essence)
    }

    private init?(essence: Substring.UTF8View) {
        if essence.equalsIgnoringCase("application/json") {
            self = .json
        } else if essence.equalsIgnoringCase("application/x-ndjson") {
            self = .lines
        } else if essence.equalsIgnoringCase("text/plain") {
            self = .text
        } else if essence.equalsIgnoringCase("application/x-www-form-urlencoded") {
            self = .form
        } else if essence.equalsIgnoringCase("application/cloudevents+json") {
            self = .cloudEvent
        } else if essence.equalsIgnoringCase("application/cloudevents-batch+json") {
            self = .cloudEvents
        } else {
            return nil
        }
    }

    // Parameters other than the charset are ignored.
    private static func isAcceptable(parameter: Substring.UTF8View) -> Bool {
        let parts = parameter.split(separator: UInt8(ascii: "="), maxSplits: 1)
        guard parts.count == 2, parts[0].trimmingSpace.equalsIgnoringCase("charset") else { return true }
        var charset = parts[1].trimmingSpace
        if charset.first == UInt8(ascii: "\""), charset.last == UInt8(ascii: "\""), charset.count > 1 {
            charset = charset.dropFirst().dropLast()
        }
        return charset.equalsIgnoringCase("utf-8") || charset.equalsIgnoringCase("utf8")
    }
}
