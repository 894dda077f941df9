package import Operations
package import SettingDefinitions

extension OperationsConfiguration: Configurable {
    package static var defaults: OperationsConfiguration { OperationsConfiguration() }
}

extension SettingKey {
    package static let adminListen = AdminSettings.listen.key
    package static let adminEnabled = AdminSettings.enabled.key
    package static let adminToken = SettingKey(
        "admin.token",
        .text,
        "The token for the private port, at least 16 bytes; better in a file, see admin.tokenFile.",
        default: .none,
        secrecy: .secret
    )
    package static let adminTokenFile = SettingKey(
        "admin.tokenFile",
        .text,
        "The file with the token for the private port; one line break at its end is not part of it.",
        default: .none
    )
    package static let adminSocket = SettingKey(
        "admin.socket",
        .text,
        "The socket for commands on the same machine, such as `sluice status`; only the user of the process may use it.",
        default: .words("the journal's folder name with .sock appended; none without a journal")
    )
}

/// The settings of the private port and the socket.
enum AdminSettings {
    fileprivate static let enabled = Setting<OperationsConfiguration>.flag(
        "admin.enabled",
        \.hasPort,
        option: "--no-admin",
        "Whether serve has a private port with metrics and health; the socket does not depend on it."
    )
    fileprivate static let listen = Setting<OperationsConfiguration>.address(
        "admin.listen",
        host: \.host,
        port: \.port,
        option: "--admin",
        "The address of the private port, as host:port. An address that other machines can reach needs admin.token."
    )

    private static let socket = Setting<OperationsConfiguration>(.adminSocket) { values, port in
        guard let path = values.text(.adminSocket) else { return }
        port.socketPath = path
        port.requiresSocket = true
    }

    static let all: [Setting<OperationsConfiguration>] =
        [enabled, listen] + Setting.secret(.adminToken, orIn: .adminTokenFile, read: readToken) + [socket]

    private static func readToken(_ token: Secret, _ values: any SettingValues, _ port: inout OperationsConfiguration) {
        port.token = token.text
        if token.key == .adminTokenFile, let file = values.text(.adminTokenFile) {
            port.readToken = {
                (try? SecretFile.currentContents(of: file)).map { String(decoding: $0, as: UTF8.self) }
            }
        }
        let minimum = OperationsConfiguration.minimumTokenBytes
        if token.bytes.count < minimum {
            values.note(token.key, "expected a token of at least \(minimum) bytes, found \(token.bytes.count)")
        }
    }
}

extension Setting {
    /// An address to listen on, as `host:port`, or `[host]:port` for an IPv6 address.
    static func address(
        _ name: String,
        host: Place<String>,
        port: Place<Int>,
        option: String,
        _ summary: String
    ) -> Setting {
        let standard = Configuration.defaults
        let text = "\(standard[keyPath: host]):\(standard[keyPath: port])"
        let key = SettingKey(name, .text, summary, default: .value(text), option: option)
        return Setting(key) { values, configuration in
            guard let text = values.text(key) else { return }
            guard let address = Self.address(text) else {
                return values.note(key, "expected host:port with a port from 0 to 65535, found '\(text)'")
            }
            configuration[keyPath: host] = address.host
            configuration[keyPath: port] = address.port
        }
    }

    private static func address(_ text: String) -> (host: String, port: Int)? {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]) else { return nil }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        guard (0...65_535).contains(port), !host.isEmpty else { return nil }
        return (String(host), port)
    }
}
