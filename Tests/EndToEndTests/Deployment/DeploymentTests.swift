import Foundation
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
        #expect(text.contains("\nType=notify\n") && text.contains("\nWatchdogSec="))
        #if os(Linux)
        let path = RepositoryFile.url(Self.unit).path
        let rating = try await Command.run("systemd-analyze", ["security", "--offline=true", "--no-pager", path])
        let line = try #require(rating.text.split(separator: "\n").last)
        let exposure = try #require(line.firstMatch(of: /: (\d+\.\d)/).flatMap { Double($0.1) })
        #expect(exposure <= 2, "\(line)")
        #endif
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
        while (socket.output?.lines ?? []).count(where: { $0 == "WATCHDOG=1" }) < 3 { try Task.checkCancellation() }
        #expect(socket.output?.lines.contains("STOPPING=1") == false)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        _ = try await socket.output?.line(containing: "STOPPING=1")
    }

    @Test("the manifests of Kubernetes are objects with probes, a volume and a budget, and use only what they define")
    func manifests() async throws {
        let objects = try Array(Yams.compose_all(yaml: try RepositoryFile.text(Self.manifests)))
        let kinds = objects.compactMap { $0["kind"]?.string }
        #expect(kinds == ["Service", "Service", "StatefulSet", "PodDisruptionBudget"])
        let set = try #require(objects.first { $0["kind"]?.string == "StatefulSet" }?["spec"])
        let pod = try #require(set["template"]?["spec"])
        let container = try #require(pod["containers"]?[0])
        for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
            let request = try #require(container[probe]?["httpGet"])
            #expect(["/livez", "/readyz"].contains(request["path"]?.string))
            #expect(request["port"]?.string == "ingest")
        }
        let arguments = (container["args"]?.array() ?? []).compactMap(\.string)
        let options = Self.options(in: arguments.joined(separator: " "))
        #expect(options.count >= 6)
        #expect(options.subtracting(try await Self.knownOptions()) == [])
        let settings = try await Sluice.output(of: ["config", "example"])
        for variable in (container["env"]?.array() ?? []).compactMap({ $0["name"]?.string }) {
            #expect(settings.contains(variable), "\(variable)")
        }
        let mounts = (container["volumeMounts"]?.array() ?? []).compactMap { $0["name"]?.string }
        let volumes =
            (pod["volumes"]?.array() ?? []).compactMap { $0["name"]?.string }
            + (set["volumeClaimTemplates"]?.array() ?? []).compactMap { $0["metadata"]?["name"]?.string }
        #expect(Set(mounts) == Set(volumes))
        let labels = objects.map { $0["spec"]?["selector"]?["app"] ?? $0["spec"]?["selector"]?["matchLabels"]?["app"] }
        #expect(labels.allSatisfy { $0?.string == "sluice" })
    }
}
