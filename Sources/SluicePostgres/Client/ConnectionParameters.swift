import CLibPQ
import SettingDefinitions

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

// MARK: Environment

extension PostgresConnection {
    /// Environment variables with which libpq makes the same connection, each as `NAME=value`; one can be the password.
    var environment: [String] {
        guard let options = PQconninfo(handle) else { return [] }
        defer { PQconninfoFree(options) }
        var variables: [String] = []
        var option = options
        while let keyword = option.pointee.keyword {
            // The parameters of a service are among the others already.
            if let name = option.pointee.envvar, let value = option.pointee.val, value.pointee != 0,
                String(cString: keyword) != "service"
            {
                variables.append("\(String(cString: name))=\(String(cString: value))")
            }
            option += 1
        }
        return variables
    }
}

// MARK: Redaction

extension ConnectionParameters {
    private static let mask = SettingKey.mask
    private static let harmlessKeywords = [
        "host", "hostaddr", "port", "dbname", "user", "sslmode", "sslrootcert", "application_name", "connect_timeout",
    ]

    /// The keywords of a libpq URI or of a list of keywords, with the values that are known to be harmless.
    ///
    /// It lists what is harmless and replaces everything else, because libpq gets new keywords for secrets.
    package static func redacted(_ text: String) -> String {
        guard let parameters = stated(in: text), !isAmbiguous(parameters) else { return mask }
        let harmless = harmlessKeywords.compactMap { keyword in
            parameters[keyword].map { "\(keyword)=\(quotedIfNeeded($0))" }
        }
        let others = parameters.keys.filter { !harmlessKeywords.contains($0) }.sorted().map { "\($0)=\(mask)" }
        return (harmless + others).joined(separator: " ")
    }

    /// Whether a part of a password may be in another place, because its `/` or `@` is not percent-encoded, or because the
    /// database's name is a connection string itself.
    private static func isAmbiguous(_ parameters: [String: String]) -> Bool {
        let database = parameters["dbname"] ?? ""
        return ["host", "hostaddr", "port"].contains { parameters[$0]?.contains("@") == true }
            || parameters["port"]?.allSatisfy { $0.isNumber || $0 == "," } == false
            || ["@", "=", "://"].contains(where: database.contains)
    }

    /// A value as libpq reads it in a list of keywords.
    private static func quotedIfNeeded(_ value: String) -> String {
        if !value.isEmpty, !value.contains(where: { $0.isWhitespace || $0 == "'" || $0 == "\\" }) { return value }
        let escaped = value.replacing(/['\\]/) { "\\\($0.0)" }
        return "'\(escaped)'"
    }
}
