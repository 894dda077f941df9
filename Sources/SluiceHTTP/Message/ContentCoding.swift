/// Interprets the `Content-Encoding` of a body.
enum ContentCoding {
    /// Whether a `Content-Encoding` is gzip; `nil` if it is another encoding.
    static func isGzip(_ contentEncoding: String) -> Bool? {
        let coding = contentEncoding.utf8.trimmingSpace
        if coding.equalsIgnoringCase("gzip") || coding.equalsIgnoringCase("x-gzip") { return true }
        return coding.isEmpty || coding.equalsIgnoringCase("identity") ? false : nil
    }
}
