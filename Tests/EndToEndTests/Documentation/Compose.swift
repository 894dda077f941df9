import Yams

/// The parts of a compose file that the tests look at.
struct Compose {
    struct Problem: Error {
        let reason: String

        init(_ reason: String) {
            self.reason = reason
        }
    }

    struct Service {
        /// Whether the image is Sluice's own.
        let isBuilt: Bool
        let command: [String]

        /// The words of the command before its options, and before the argument that may follow.
        var subcommand: [String] {
            // `keys new NAME` has an argument, which is no subcommand.
            Array(command.prefix { !$0.hasPrefix("-") }.prefix(command.first == "keys" ? 2 : 1))
        }

        let environment: [String]
        /// The names of its secrets, which are files in `/run/secrets`.
        let secrets: [String]
        let dependencies: [String]
        let hasHealthCheck: Bool
    }

    let services: [String: Service]
    /// The file of each secret.
    let secrets: [String: String]

    /// Reads a compose file.
    ///
    /// - Throws: If the text is not YAML, or has no services.
    init(_ text: String) throws {
        let root = try Yams.load(yaml: text) as? [String: Any]
        guard let services = root?["services"] as? [String: [String: Any]] else {
            throw Problem("the compose file has no services")
        }
        secrets = (root?["secrets"] as? [String: [String: Any]] ?? [:]).compactMapValues { $0["file"] as? String }
        self.services = services.mapValues { service in
            Service(
                isBuilt: service["build"] != nil,
                command: (service["command"] as? [Any] ?? []).map { "\($0)" },
                environment: Array((service["environment"] as? [String: Any] ?? [:]).keys),
                secrets: (service["secrets"] as? [Any] ?? []).map { "\($0)" },
                dependencies: Array((service["depends_on"] as? [String: Any] ?? [:]).keys),
                hasHealthCheck: (service["healthcheck"] as? [String: Any])?["test"] != nil
            )
        }
    }

    /// The settings, subcommands and options of Sluice's own services that do not exist.
    ///
    /// `help` returns the help of a subcommand, or throws if there is no such subcommand.
    func problems(settings: String, help: ([String]) async throws -> String) async throws -> [String] {
        let words = Set(settings.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
        var problems: [String] = []
        for (name, service) in services.sorted(by: { $0.key < $1.key }) where service.isBuilt {
            var unknown = service.environment.filter { !words.contains($0) }.sorted()
            if let help = try? await help(service.subcommand) {
                let options = CommandRule.options(ofHelp: help)
                unknown += service.command.dropFirst().filter { $0.hasPrefix("--") && !options.contains($0) }
            } else {
                unknown += service.command.prefix(1)
            }
            problems += unknown.map { "\(name): \($0)" }
        }
        return problems
    }
}
