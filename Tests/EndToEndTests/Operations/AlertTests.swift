import Foundation
import ServerTestSupport
import Testing
import Yams

/// The files in `deploy` for Prometheus and Grafana.
@Suite("The alerts and the dashboard", .timeLimit(.minutes(2)))
struct AlertTests {
    private static let folder = RepositoryFile.url("deploy/prometheus").path

    /// The alerts with their expressions.
    private func alerts() throws -> [String: String] {
        let text = try RepositoryFile.text("deploy/prometheus/sluice.rules.yml")
        let root = try #require(try Yams.compose(yaml: text))
        let rules = root["groups"]?[0]?["rules"]?.array() ?? []
        return Dictionary(
            uniqueKeysWithValues: try rules.map { rule in
                (try #require(rule["alert"]?.string), try #require(rule["expr"]?.string))
            }
        )
    }

    /// The expressions of all panels.
    private func panels() throws -> [String] {
        let data = try Data(contentsOf: RepositoryFile.url("deploy/grafana/dashboards/sluice.json"))
        let dashboard = try JSONDecoder().decode(Dashboard.self, from: data)
        return dashboard.panels.flatMap { $0.targets ?? [] }.map(\.expr)
    }

    private struct Dashboard: Decodable {
        struct Panel: Decodable {
            struct Target: Decodable {
                let expr: String
            }

            let targets: [Target]?
        }

        let panels: [Panel]
    }

    /// The metrics of an expression, without the endings of histograms' series.
    private static func metrics(in expression: String) -> [String] {
        expression.matches(of: /\b(?:sluice|process)_\w+/).map {
            String($0.0).replacing(/_(bucket|sum|count)$/, with: "")
        }
    }

    @Test("are valid, and fire when they must, according to promtool")
    func promtool() async throws {
        for check in ["check rules sluice.rules.yml", "test rules sluice.rules.test.yml"] {
            let result = try await Command.run("bash", ["-c", "cd '\(Self.folder)' && promtool \(check) 2>&1"])
            #expect(result.text.contains("SUCCESS"), "\(result.text)")
        }
    }

    @Test("refer only to metrics and labels that exist")
    func metrics() async throws {
        let table = try await Sluice.output(of: ["metrics"])
        let known = Dictionary(
            uniqueKeysWithValues: table.matches(of: /(?m)^\| `(\w+)` \| \w+ \| ([^|]*) \|/).map { match in
                (String(match.1), Set(match.2.matches(of: /`(\w+)`/).map { String($0.1) }))
            }
        )
        let expressions = try Array(alerts().values) + panels()
        #expect(expressions.count > 35)
        for expression in expressions {
            let metrics = Self.metrics(in: expression)
            #expect(!metrics.isEmpty || expression.hasPrefix("up{"), "\(expression)")
            for metric in metrics { #expect(known[metric] != nil, "\(metric)") }
            let labels = metrics.reduce(into: Set(["instance", "job", "le"])) { $0.formUnion(known[$1] ?? []) }
            for match in expression.matches(of: /by \(([\w, ]+)\)/) {
                let used = match.1.split(separator: ", ").map(String.init)
                #expect(labels.isSuperset(of: used), "\(expression)")
            }
            for match in expression.matches(of: /[{,] ?(\w+)(?:=|!=|=~)"/) {
                #expect(labels.contains(String(match.1)), "\(expression)")
            }
        }
    }

    @Test("are each tested, and each in the runbook")
    func completeness() throws {
        let tests = try RepositoryFile.text("deploy/prometheus/sluice.rules.test.yml")
        let runbook = try RepositoryFile.text("Documentation/Operate/Runbook.md")
        let alerts = try alerts().keys
        #expect(alerts.count >= 16)
        for alert in alerts {
            #expect(tests.contains("alertname: \(alert)\n"), "\(alert)")
            #expect(runbook.contains("\n### \(alert)\n"), "\(alert)")
        }
        for heading in runbook.matches(of: /(?m)^### (Sluice\w+)$/) {
            #expect(alerts.contains(String(heading.1)), "\(heading.1) is no alert")
        }
    }

    @Test("the runbook explains each line that is logged at the level error, and no other")
    func logLines() throws {
        let folder = RepositoryFile.url("Sources")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
        var messages: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" && !file.path.contains("/JustTrack/") {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /logger\.(?:error|critical)\(\s*"([^"\\]+)"/) {
                messages.insert(String(match.1))
            }
        }
        #expect(messages.count >= 25)
        let runbook = try RepositoryFile.text("Documentation/Operate/Runbook.md")
        let explained = Set(runbook.matches(of: /(?m)^\| `([A-Z][^`]+)` \|/).map { String($0.1) })
        #expect(messages.subtracting(explained) == [])
        #expect(explained.subtracting(messages) == [])
    }
}
