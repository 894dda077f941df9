import CLibPQ

/// What a connection string states, as libpq itself understands it.
package enum ConnectionParameters {
    /// The keywords of a libpq URI or of a list of keywords, with their values; `nil` if libpq cannot parse it.
    ///
    /// The values can be passwords, so they must not be logged.
    package static func stated(in connection: String) -> [String: String]? {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(connection, &message) else {
            PQfreemem(message)
            return nil
        }
        defer { PQconninfoFree(options) }
        var parameters: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { parameters[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return parameters
    }
}
