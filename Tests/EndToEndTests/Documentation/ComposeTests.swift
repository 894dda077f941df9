import Foundation
import ServerTestSupport
import Testing
import Yams

/// Reads `docker-compose.yml` without Docker, which may be absent, and checks that everything it refers to exists.
@Suite("docker-compose.yml", .timeLimit(.minutes(5)))
struct ComposeTests {
    @Test("docker-compose.yml starts Sluice, PostgreSQL and Kafka, each with a health check")
    func services() throws {
        let compose = try Compose(RepositoryFile.text("docker-compose.yml"))
        for name in ["sluice", "postgres", "kafka"] {
            let service = try #require(compose.services[name])
            // Sluice's own health check is in its image.
            let dockerfile = try RepositoryFile.text("Dockerfile")
            #expect(service.hasHealthCheck || (service.isBuilt && dockerfile.contains("\nHEALTHCHECK ")), "\(name)")
        }
    }

    @Test("Sluice is given only settings, subcommands and options that exist")
    func settings() async throws {
        let compose = try Compose(RepositoryFile.text("docker-compose.yml"))
        let settings = try await Sluice.output(of: ["config", "example"])
        let problems = try await compose.problems(settings: settings) { try await Sluice.output(of: $0 + ["--help"]) }
        #expect(problems.isEmpty, "\(problems)")
    }

    @Test("services depend only on services that exist")
    func dependencies() throws {
        let compose = try Compose(RepositoryFile.text("docker-compose.yml"))
        for (name, service) in compose.services {
            for other in service.dependencies {
                #expect(compose.services[other] != nil, "\(name) waits for \(other)")
            }
        }
    }

    @Test("secrets are files: each exists, is one that a service uses, and is in no environment")
    func secrets() throws {
        let text = try RepositoryFile.text("docker-compose.yml")
        let compose = try Compose(text)
        #expect(Set(compose.services.values.flatMap(\.secrets)) == Set(compose.secrets.keys))
        for file in compose.secrets.values {
            let secret = try RepositoryFile.text(String(file.trimmingPrefix("./")))
            #expect(secret.contains { !$0.isWhitespace })
        }
        #expect(!compose.secrets.isEmpty)
        #expect(!text.contains("PASSWORD:") && !text.contains("DATABASE_URL"))
    }

    @Test("Sluice's services have the file with the settings, which has no problems")
    func settingsFile() async throws {
        let file = "deploy/compose/sluice.yaml"
        let text = try RepositoryFile.text(file)
        #expect(try await SettingsFile.problems(in: text) == ["sluice.yaml: no problems"])
        let services = try #require(try Yams.compose(yaml: try RepositoryFile.text("docker-compose.yml"))?["services"])
        for name in ["sluice", "migrate"] {
            let service = try #require(services[name])
            let mount = "./\(file):/etc/sluice/sluice.yaml:ro"
            #expect(service["volumes"]?.array().compactMap(\.string).contains(mount) == true)
            #expect(service["command"]?.array().compactMap(\.string).last == "/etc/sluice/sluice.yaml")
            #expect(service["secrets"]?.array().compactMap(\.string) == ["postgres-password"])
        }
    }

    @Test("Prometheus and Grafana start only with their profile, and the files that they mount exist")
    func monitoring() throws {
        let text = try RepositoryFile.text("docker-compose.yml")
        let services = try #require(try Yams.compose(yaml: text)?["services"])
        for name in ["prometheus", "grafana"] {
            let service = try #require(services[name])
            #expect(service["profiles"]?.array().compactMap(\.string) == ["monitoring"])
            let files = (service["volumes"]?.array() ?? []).compactMap(\.string).filter { $0.hasPrefix("./") }
            #expect(files.count == 2)
            for file in files {
                let path = String(file.dropFirst(2).prefix { $0 != ":" })
                #expect(FileManager.default.fileExists(atPath: RepositoryFile.url(path).path), "\(path)")
            }
        }
    }

    @Test("the image runs the program that it copies, as an unprivileged user")
    func dockerfile() throws {
        let lines = try RepositoryFile.text("Dockerfile").split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("FROM ") } == 2)
        #expect(lines.contains("USER sluice"))
        for line in lines where line.hasPrefix("COPY ") && !line.contains("--from=") && !line.hasPrefix("COPY . ") {
            let source = line.split(separator: " ")[1]
            #expect(FileManager.default.fileExists(atPath: RepositoryFile.url(String(source)).path), "\(source)")
        }
    }

    @Test("the rule finds an unknown setting, option and subcommand")
    func unknownSettings() async throws {
        let compose = try Compose(
            """
            services:
              sluice:
                build: .
                command: [serve, --glisten, a]
                environment: { DATABASE_URL: a, SLUICE_NONSENSE: b }
              other:
                build: .
                command: [swerve]
            """
        )
        let problems = try await compose.problems(settings: "DATABASE_URL; default: none") { subcommand in
            guard subcommand == ["serve"] else { throw Compose.Problem("no such subcommand") }
            return "--listen <host:port>"
        }
        #expect(Set(problems) == ["other: swerve", "sluice: --glisten", "sluice: SLUICE_NONSENSE"])
    }
}
