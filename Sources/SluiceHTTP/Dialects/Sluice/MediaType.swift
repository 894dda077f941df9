import EventValidation

/// Interprets the `Content-Type` and `Content-Encoding` of a body in Sluice's own format.
enum MediaType {
    /// The format that a `Content-Type` names; `nil` if it is not supported or not in UTF-8.
    static func format(of contentType: String) -> BodyFormat? {
        if contentType.utf8.equalsIgnoringCase("application/json") { return .document }
        if contentType.utf8.equalsIgnoringCase("application/x-ndjson") { return .lines }
        var parts = contentType.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let essence = parts.popFirst()?.trimmingSpace, parts.allSatisfy({ isAcceptable(parameter: $0) }) else {
            return nil
        }
        if essence.equalsIgnoringCase("application/json") { return .document }
        if essence.equalsIgnoringCase("application/x-ndjson") { return .lines }
        return nil
    }

    /// Whether a `Content-Encoding` is gzip; `nil` if it is another encoding.
    static func isGzip(_ contentEncoding: String) -> Bool? {
        let coding = contentEncoding.utf8.trimmingSpace
        if coding.equalsIgnoringCase("gzip") || coding.equalsIgnoringCase("x-gzip") { return true }
        return coding.isEmpty || coding.equalsIgnoringCase("identity") ? false : nil
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
