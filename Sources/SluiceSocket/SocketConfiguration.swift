import SettingDefinitions

/// Which receiver gets the events, and how.
public struct SocketConfiguration: Sendable {
    /// The tracker's default name.
    public static let defaultName = "socket"

    /// What the line of an event is.
    public enum Format: String, Sendable, CaseIterable {
        /// The event in its canonical form.
        case canonical
        /// The canonical form with the members `@timestamp`, the time of the event, and `@version`, as Logstash has them.
        case logstash
    }

    /// The name that refers to the tracker in the plan.
    ///
    /// Default: `socket`.
    public var name: String
    /// The receiver, as `tcp://host:port` or `tls://host:port`; an IPv6 address is in brackets.
    public var url: String
    /// What the line of an event is.
    ///
    /// Default: `canonical`.
    public var format: Format
    /// Members that every line begins with, each as `name=value`; a value is a text.
    public var fields: [String]
    /// Members whose values are in files, each as `name=path`; the files are read for each connection.
    public var fieldFiles: [String]
    /// A file with the certificates, in PEM, of the authorities (CA) that may sign the receiver's certificate; `nil` for those that
    /// the system trusts.
    public var caFile: String?
    /// A file with the certificate, in PEM, that this client shows to the receiver; `nil` for none.
    public var certificateFile: String?
    /// A file with the private key of that certificate, in PEM and without a passphrase.
    public var keyFile: String?
    /// How long it may take to find the receiver, to connect to it, and to agree upon TLS.
    ///
    /// Default: 10 s.
    public var connectTimeout: Duration
    /// How long the receiver may take to acknowledge the next bytes.
    ///
    /// A delivery to a slow receiver may take longer. Default: 60 s.
    public var acknowledgementTimeout: Duration

    /// Creates a configuration with the defaults of everything else.
    public init(url: String, name: String = Self.defaultName) {
        self.name = name
        self.url = url
        format = .canonical
        fields = []
        fieldFiles = []
        connectTimeout = .seconds(10)
        acknowledgementTimeout = .seconds(60)
    }
}

extension SocketConfiguration {
    /// A setting that can be wrong.
    enum Part: String {
        case url, fields, fieldFiles, caFile, certificateFile, keyFile
    }

    /// What is wrong with a setting, as a sentence without a full stop and without values that may be secret.
    struct Problem {
        let part: Part
        let sentence: String
        var code = SettingProblem.Code.invalidValue
    }

    /// What is wrong, as far as it can be known without the network and without files.
    var problems: [Problem] {
        var problems = fieldProblems
        guard let address = ReceiverAddress(url) else {
            let sentence = "expected tcp://host:port or tls://host:port, with an IPv6 address in brackets"
            return [Problem(part: .url, sentence: sentence)] + problems
        }
        if !address.isSecured {
            for (part, file) in [(Part.caFile, caFile), (.certificateFile, certificateFile), (.keyFile, keyFile)]
            where file != nil {
                problems.append(
                    Problem(part: part, sentence: "only a url with tls:// needs it", code: .conflictingSettings)
                )
            }
        } else if (certificateFile == nil) != (keyFile == nil) {
            let (part, other) = keyFile == nil ? (Part.certificateFile, Part.keyFile) : (.keyFile, .certificateFile)
            problems.append(Problem(part: part, sentence: "needs \(other.rawValue) as well", code: .missingSetting))
        }
        return problems
    }

    private var fieldProblems: [Problem] {
        var names = Set(EventLines.members(of: format))
        var problems: [Problem] = []
        for (part, entries) in [(Part.fields, fields), (.fieldFiles, fieldFiles)] {
            for (index, entry) in entries.enumerated() {
                let entry = SettingEntry(entry)
                if entry.name.isEmpty || entry.value == nil || (part == .fieldFiles && entry.value == "") {
                    let form = part == .fields ? "name=value" : "name=path"
                    // What has no equals sign may be a secret.
                    problems.append(Problem(part: part, sentence: "entry \(index + 1) is not of the form \(form)"))
                } else if !names.insert(entry.name).inserted {
                    let sentence = "there is another member with the name '\(entry.name)'; choose another name"
                    problems.append(Problem(part: part, sentence: sentence))
                }
            }
        }
        return problems
    }

    /// An entry of `fields` without its value; one without an equals sign may be a secret as a whole.
    @Sendable
    static func redacted(_ entry: String) -> String {
        let parts = SettingEntry(entry)
        return parts.value == nil ? SettingKey.mask : "\(parts.name)=\(SettingKey.mask)"
    }
}
