import EventSchema
import Foundation
import PlanTools

/// Validates events against the exported schemas with Python's `jsonschema`.
///
/// One Python process validates all plans and events of a test.
struct SchemaJudge {
    /// The result for one event.
    struct Verdict: Equatable {
        /// Whether the schema of all events accepts it.
        let envelope: Bool
        /// Whether the schema of the named event accepts it; `nil` if it names no event of the plan.
        let event: Bool?
    }

    private let folder: URL
    private var plans = 0
    private var cases: [String] = []

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "sluice-schemas-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Exports a plan, against which the following events are validated.
    mutating func use(_ plan: TrackingPlan) throws {
        plans += 1
        for file in JSONSchemaExport(plan).files {
            let url = folder.appending(path: "\(plans)/\(file.path)")
            let parent = url.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
            try Data(file.text.utf8).write(to: url)
        }
    }

    mutating func add(_ event: [UInt8]) {
        cases.append("\(plans) \(Data(event).base64EncodedString())")
    }

    /// The results for all events, in their order.
    ///
    /// Throws if a file does not conform to the metaschema, or if `jsonschema` is not installed.
    func verdicts() throws -> [Verdict] {
        defer { try? FileManager.default.removeItem(at: folder) }
        let input = cases.joined(separator: "\n")
        return try PythonProcess.run(Self.script, [folder.path], input: input).map { line in
            let marks = Array(line)
            return Verdict(envelope: marks[0] == "+", event: marks[1] == "?" ? nil : marks[1] == "+")
        }
    }

    /// Parses with Python's JSON reader, which is lenient: it accepts `NaN` and duplicate keys.
    private static let script = #"""
        import base64, json, pathlib, sys
        try:
            import jsonschema
        except ImportError:
            sys.exit("there is no Python package jsonschema (4.10 or later): run `scripts/setup.sh test`")

        Validator = jsonschema.Draft202012Validator
        sys.setrecursionlimit(20000)

        def refuse(constant):
            raise ValueError(constant)

        def read(path):
            schema = json.loads(path.read_text(encoding="utf-8"))
            Validator.check_schema(schema)
            assert schema["$id"].endswith(path.name) or "%" in schema["$id"], schema["$id"]
            return Validator(schema)

        class Plan:
            def __init__(self, folder):
                self.envelope = read(folder / "envelope.schema.json")
                events = [read(path) for path in sorted(folder.glob("events/*.json"))]
                self.events = {event.schema["title"]: event for event in events}

        plans = {folder.name: Plan(folder) for folder in pathlib.Path(sys.argv[1]).iterdir()}
        for line in sys.stdin:
            number, encoded = line.split(" ")
            plan = plans[number]
            try:
                event = json.loads(base64.b64decode(encoded).decode("utf-8"), parse_constant=refuse)
            except ValueError:
                print("-?")
                continue
            name = event.get("name") if isinstance(event, dict) else None
            schema = plan.events.get(name) if isinstance(name, str) else None
            mark = lambda validator: "+" if validator.is_valid(event) else "-"
            print(mark(plan.envelope) + (mark(schema) if schema else "?"))
        """#
}
