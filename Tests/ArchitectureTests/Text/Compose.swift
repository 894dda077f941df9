import Yams

/// What of a compose file matters here.
struct Compose {
    struct Service {
        /// Whether the image is ours.
        let isBuilt: Bool
        let command: [String]
        let environment: [String]
        let dependencies: [String]
        let hasHealthCheck: Bool
    }

    let services: [String: Service]

    /// Reads a compose file.
    ///
    /// - Throws: where it is no YAML, or has no services.
    init(_ text: String) throws {
        let root = try Yams.load(yaml: text) as? [String: Any]
        guard let services = root?["services"] as? [String: [String: Any]] else {
            throw SluiceProgram.Problem("the compose file has no services")
        }
        self.services = services.mapValues { service in
            Service(
                isBuilt: service["build"] != nil,
                command: (service["command"] as? [Any] ?? []).map { "\($0)" },
                environment: Array((service["environment"] as? [String: Any] ?? [:]).keys),
                dependencies: Array((service["depends_on"] as? [String: Any] ?? [:]).keys),
                hasHealthCheck: (service["healthcheck"] as? [String: Any])?["test"] != nil
            )
        }
    }

    /// What our own services are given that does not exist; `help` gives the help of a subcommand, if there is one.
    func problems(settings: String, help: (String) throws -> String) throws -> [String] {
        let words = Set(settings.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
        return services.sorted { $0.key < $1.key }.flatMap { name, service -> [String] in
            guard service.isBuilt else { return [] }
            let unknown = service.environment.filter { !words.contains($0) }.sorted()
            guard let subcommand = service.command.first, let help = try? help(subcommand) else {
                return (unknown + service.command.prefix(1)).map { "\(name): \($0)" }
            }
            let options = CommandRule.options(ofHelp: help)
            let unknownOptions = service.command.dropFirst().filter { $0.hasPrefix("--") && !options.contains($0) }
            return (unknown + unknownOptions).map { "\(name): \($0)" }
        }
    }
}
