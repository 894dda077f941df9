import Foundation
import ServerTestSupport
import Testing
import Yams

/// The files in `deploy` with which others run Sluice, as far as they can be tested without systemd and Kubernetes.
@Suite("The files for deployment", .timeLimit(.minutes(5)))
struct DeploymentTests {
    private static let unit = "deploy/systemd/sluice.service"
    private static let manifests = "deploy/kubernetes/sluice.yaml"

    /// The options of `serve` in a text, such as `--listen`.
    private static func options(in text: some StringProtocol) -> Set<String> {
        Set(String(text).matches(of: /--[a-z][a-z-]+/).map { String($0.0) })
    }

    private static func knownOptions() async throws -> Set<String> {
        options(in: try await Sluice.output(of: ["serve", "--help"]))
    }

    @Test("the unit of systemd starts serve with options that exist, and systemd rates its protection as good")
    func unit() async throws {
        let text = try RepositoryFile.text(Self.unit)
        let command = try #require(text.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        let options = Self.options(in: command)
        #expect(options.count >= 5)
        #expect(options.subtracting(try await Self.knownOptions()) == [])
        #expect(command.contains(" --config /etc/sluice/sluice.yaml "))
        #expect(text.contains("\nType=notify\n") && text.contains("\nWatchdogSec="))
        #if os(Linux)
        let path = RepositoryFile.url(Self.unit).path
        let rating = try await Command.run("systemd-analyze", ["security", "--offline=true", "--no-pager", path])
        let line = try #require(rating.text.split(separator: "\n").last)
        let exposure = try #require(line.firstMatch(of: /: (\d+\.\d)/).flatMap { Double($0.1) })
        #expect(exposure <= 2, "\(line)")
        #endif
    }

    @Test("the unit's secrets are credentials, of which the environment has only the paths")
    func credentials() async throws {
        let text = try RepositoryFile.text(Self.unit)
        let loaded = text.matches(of: /\n#?LoadCredential=([a-z.-]+):\/etc\/sluice\/secrets\/([a-z.-]+)/)
        #expect(loaded.allSatisfy { $0.1 == $0.2 })
        let environment = text.matches(of: /\n#?Environment=([A-Z_]+)=(.*)/)
        #expect(environment.count == 3)
        #expect(environment.map(\.2) == loaded.map { "%d/" + $0.1 })
        let settings = try await Sluice.output(of: ["config", "example"])
        for variable in environment.map(\.1) {
            #expect(variable.hasSuffix("_FILE") && settings.contains(variable), "\(variable)")
        }
        #expect(!text.contains("EnvironmentFile="))
    }

    @Test("the unit gives a shutdown more time than its longest one takes")
    func stopTimeout() throws {
        let text = try RepositoryFile.text(Self.unit)
        let seconds = try #require(text.firstMatch(of: /TimeoutStopSec=(\d+)/).flatMap { Int($0.1) })
        let grace = try RepositoryFile.text("docker-compose.yml").firstMatch(of: /stop_grace_period: (\d+)s/)
        #expect(seconds == grace.flatMap { Int($0.1) })
        let pods = try RepositoryFile.text(Self.manifests).firstMatch(of: /terminationGracePeriodSeconds: (\d+)/)
        #expect(pods.flatMap { Int($0.1) } == seconds)
    }

    @Test("serve tells systemd when it is ready, that it works, and that it stops")
    func notifications() async throws {
        let folder = try TestFolder()
        let listener = """
            import socket, sys
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.bind(sys.argv[1])
            print("bound", flush=True)
            while True: print(s.recv(100).decode(), flush=True)
            """
        let socket = try SluiceProcess(
            ["-c", listener, "notify.sock"],
            executable: try ClientScript.program("python3"),
            in: folder
        )
        defer { socket.send(SIGKILL) }
        _ = try await socket.output?.line(containing: "bound")
        let server = try await ServingSluice.start(
            [],
            in: folder,
            environment: ["NOTIFY_SOCKET": folder.path("notify.sock"), "WATCHDOG_USEC": "200000"]
        )
        _ = try await socket.output?.line(containing: "READY=1")
        // Reports follow by themselves.
        while (socket.output?.lines ?? []).count(where: { $0 == "WATCHDOG=1" }) < 3 { try await waitBriefly() }
        #expect(socket.output?.lines.contains("STOPPING=1") == false)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        _ = try await socket.output?.line(containing: "STOPPING=1")
    }

    @Test("the manifests of Kubernetes are objects with probes, a volume and a budget, and use only what they define")
    func manifests() async throws {
        let objects = try Array(Yams.compose_all(yaml: try RepositoryFile.text(Self.manifests)))
        let kinds = objects.compactMap { $0["kind"]?.string }
        #expect(kinds == ["ConfigMap", "Service", "Service", "StatefulSet", "PodDisruptionBudget"])
        let set = try #require(objects.first { $0["kind"]?.string == "StatefulSet" }?["spec"])
        let pod = try #require(set["template"]?["spec"])
        let container = try #require(pod["containers"]?[0])
        for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
            let request = try #require(container[probe]?["httpGet"])
            #expect(["/livez", "/readyz"].contains(request["path"]?.string))
            #expect(request["port"]?.string == "ingest")
        }
        let arguments = (container["args"]?.array() ?? []).compactMap(\.string)
        #expect(arguments == ["serve", "--config=/etc/sluice/settings/sluice.yaml"])
        let map = try #require(objects.first { $0["kind"]?.string == "ConfigMap" })
        let settings = try #require(map["data"]?["sluice.yaml"]?.string)
        #expect(try await SettingsFile.problems(in: settings) == ["sluice.yaml: no problems"])
        // Secrets are files.
        #expect(container["env"] == nil)
        let mounts = (container["volumeMounts"]?.array() ?? []).compactMap { $0["name"]?.string }
        let volumes =
            (pod["volumes"]?.array() ?? []).compactMap { $0["name"]?.string }
            + (set["volumeClaimTemplates"]?.array() ?? []).compactMap { $0["metadata"]?["name"]?.string }
        #expect(Set(mounts) == Set(volumes))
        let selectors = objects.dropFirst().map { $0["spec"]?["selector"] }
        let labels = selectors.map { $0?["app"] ?? $0?["matchLabels"]?["app"] }
        #expect(labels.allSatisfy { $0?.string == "sluice" })
    }
}
