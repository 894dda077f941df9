import NIOHTTP1
import SettingDefinitions
import TrackerKit

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The fields of each request's header that the settings state, and the secrets that sign requests, read anew for each delivery.
struct RequestFields: Sendable {
    let headers: HTTPHeaders
    let secrets: [WebhookSignature.Secret]

    /// Reads the files; this blocks.
    ///
    /// - Throws: `notPrepared` if a file is missing, empty or unusable.
    init(_ receiver: HTTPReceiver, signingKeyFile: String?) throws(TrackerError) {
        var headers = HTTPHeaders()
        headers.add(name: "user-agent", value: "sluice")
        for (name, value) in receiver.headers.compactMap(HeaderEntry.field) {
            headers.replaceOrAdd(name: name, value: value)
        }
        for (name, path) in receiver.headerFiles.compactMap(HeaderEntry.file) {
            headers.replaceOrAdd(name: name, value: try Self.text(of: path))
        }
        if let path = receiver.bearerTokenFile {
            headers.replaceOrAdd(name: "authorization", value: "Bearer \(try Self.text(of: path))")
        }
        if let path = receiver.basicAuthFile {
            let credentials = try Self.text(of: path)
            headers.replaceOrAdd(name: "authorization", value: "Basic \(Data(credentials.utf8).base64EncodedString())")
        }
        self.headers = headers
        secrets = try signingKeyFile.map { path throws(TrackerError) in try Self.secrets(in: path) } ?? []
    }

    /// The content of a file, as the value of a field.
    private static func text(of path: String) throws(TrackerError) -> String {
        let bytes = try contents(of: path)
        guard let text = String(validating: bytes, as: UTF8.self), HeaderEntry.isValue(text) else {
            throw WebhookErrors.notPrepared(
                "The file '\(path)' has more than one line, or bytes that a header cannot have."
            )
        }
        return text
    }

    private static func secrets(in path: String) throws(TrackerError) -> [WebhookSignature.Secret] {
        let lines = String(decoding: try contents(of: path), as: UTF8.self).split(whereSeparator: \.isNewline)
        let secrets = lines.compactMap { WebhookSignature.Secret($0) }
        guard secrets.count == lines.count, !secrets.isEmpty else {
            throw WebhookErrors.notPrepared(
                "The file '\(path)' has a line that is not 'whsec_' and the base64 of 24 to 64 bytes."
            )
        }
        return secrets
    }

    private static func contents(of path: String) throws(TrackerError) -> [UInt8] {
        do throws(SecretFile.Problem) {
            return try SecretFile.currentContents(of: path)
        } catch {
            throw WebhookErrors.notPrepared("\(error)")
        }
    }
}

/// An entry of `headers` or `headerFiles`.
package enum HeaderEntry {
    /// The fields that the tracker writes itself.
    private static let reservedNames: Set = [
        "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect", "host",
        "keep-alive", "te", "transfer-encoding", "upgrade", "webhook-id", "webhook-signature", "webhook-timestamp",
    ]

    /// The name and the value of `Name: value`; `nil` if it is malformed.
    static func field(_ entry: String) -> (name: String, value: String)? {
        guard let parts = parts(of: entry, separator: ":") else { return nil }
        let value = String(parts.rest.unicodeScalars.drop { $0 == " " })
        return isValue(value) ? (parts.name, value) : nil
    }

    /// The name and the path of `Name=path`; `nil` if it is malformed.
    static func file(_ entry: String) -> (name: String, path: String)? {
        parts(of: entry, separator: "=").map { ($0.name, $0.rest) }
    }

    /// What is wrong with an entry of `headers`, without its value; `nil` if nothing is.
    package static func problem(ofField entry: String) -> String? {
        guard let (name, _) = field(entry) else { return "'\(name(of: entry))' is not of the form 'Name: value'" }
        return problem(ofName: name)
    }

    /// What is wrong with an entry of `headerFiles`; `nil` if nothing is.
    package static func problem(ofFile entry: String) -> String? {
        guard let (name, _) = file(entry) else { return "'\(name(of: entry))' is not of the form Name=path" }
        return problem(ofName: name)
    }

    /// An entry of `headers` without its value.
    package static func redacted(_ entry: String) -> String { "\(name(of: entry)): \(SettingKey.mask)" }

    private static func problem(ofName name: String) -> String? {
        reservedNames.contains(name.lowercased()) ? "the field '\(name)' is written by the tracker" : nil
    }

    private static func name(of entry: String) -> Substring {
        // Searches scalars, because a separator followed by a combining accent is another `Character`.
        Substring(entry.unicodeScalars.prefix { $0 != ":" && $0 != "=" })
    }

    private static func parts(of text: String, separator: Unicode.Scalar) -> (name: String, rest: String)? {
        let entry = SettingEntry(text, separator: separator)
        guard let rest = entry.value, !entry.name.isEmpty, !rest.isEmpty else { return nil }
        return entry.name.utf8.allSatisfy(isTokenByte) ? (entry.name, rest) : nil
    }

    /// Whether a text can be the value of a field: no control character but the tab (RFC 9110, section 5.5).
    static func isValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
    }

    /// Whether a byte can be in a field's name: `tchar` of RFC 9110, section 5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
