import SluiceFile
import Testing

@Suite("Paths of files")
struct FilePathsTests {
    private static func paths(_ path: String, node: String? = "n") throws -> FilePaths {
        var configuration = FileConfiguration(path: path)
        configuration.node = node
        return try FilePaths(configuration)
    }

    /// The whole path of the file with a number.
    private static func path(_ template: String, event: String = "Sold", number: Int = 1) throws -> String {
        let paths = try paths(template)
        let target = paths.target(event: event, time: "2026-11-28T05:07:09.123Z")
        return ([paths.template.root] + target.folders + [target.name(number)]).joined(separator: "/")
    }

    static let templates: KeyValuePairs<String, String> = [
        "archive/{event}/{yyyy}-{MM}-{dd}/{HH}-{node}.ndjson.gz": "archive/Sold/2026-11-28/05-n.ndjson.gz",
        "/var/archive/{yyyy}{MM}{dd}T{HH}.ndjson": "/var/archive/20261128T05.ndjson",
        "events.ndjson": "./events.ndjson",
        "./events/./all.ndjson": "events/all.ndjson",
        "a//b///{event}": "a/b/Sold",
        "a/x{event}y{event}z/b/{node}": "a/xSoldySoldz/b/n",
        "/{event}.ndjson": "//Sold.ndjson",
        "a/.partial/{event}": "a/.partial/Sold",
        "{dd}/fixed/{HH}.{MM}": "./28/fixed/05.11",
    ]

    @Test("the placeholders are replaced", arguments: templates.map(\.key))
    func replaced(template: String) throws {
        #expect(try Self.path(template) == Self.templates.first { $0.key == template }?.value)
    }

    @Test("a number stands before the extension, and none is in the first file's name")
    func numbers() throws {
        #expect(try Self.path("a/{HH}.ndjson.gz", number: 2) == "a/05+2.ndjson.gz")
        #expect(try Self.path("a/{HH}-x.b/{event}", number: 10) == "a/05-x.b/Sold+10")
        #expect(try Self.path("a/{event}.v1.ndjson", event: "a.b", number: 3) == "a/a.b+3.v1.ndjson")
    }

    @Test("whatever an event is called, its file is in the folder", arguments: NamePartTests.unusual.map(\.key))
    func unusualEvents(name: String) throws {
        let target = try Self.paths("archive/{event}/{event}.ndjson").target(event: name, time: "")
        for name in target.folders + [target.name(1), target.name(1_000_000)] {
            #expect(!name.contains("/") && !name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255)
        }
        #expect(target.folders.count == 1)
    }

    @Test("names fit into 255 bytes, however long the event's is")
    func longNames() throws {
        let long = String(repeating: "日", count: 500)
        for template in [
            "{event}.ndjson", "{event}{event}{event}-{node}.ndjson", "{yyyy}/{event}-{node}-{HH}.ndjson.gz",
        ] {
            let paths = try Self.paths(template, node: long)
            let target = paths.target(event: long, time: "2026-11-28T05:07:09Z")
            #expect((target.folders + [target.name(999_999_999)]).allSatisfy { $0.utf8.count <= 255 })
        }
    }

    static let wrong: KeyValuePairs<String, String> = [
        "": "expected a path",
        "a\0b": "the path has a NUL character",
        "archive/": "the path must end with the name of a file",
        "/": "the path must end with the name of a file",
        ".": "the path must end with the name of a file",
        "archive/.": "the path must end with the name of a file",
        "..": "the path contains '..'; write the path without it",
        "archive/../x.ndjson": "the path contains '..'; write the path without it",
        "archive/{event}/..": "the path contains '..'; write the path without it",
        ".partial": "'.partial' is the folder of the unfinished files; use another name",
        "a/.partial": "'.partial' is the folder of the unfinished files; use another name",
        "a/{hour}.ndjson":
            "'{hour}' is not a placeholder; those of a path are {event}, {yyyy}, {MM}, {dd}, {HH}, {node}",
        "a/{}.ndjson": "'{}' is not a placeholder; those of a path are {event}, {yyyy}, {MM}, {dd}, {HH}, {node}",
        "a/{event.ndjson": "a '{' in the path belongs to no placeholder",
        "a}/b.ndjson": "a '}' in the path belongs to no placeholder",
        "a/{event/b}.ndjson": "a '{' in the path belongs to no placeholder",
        String(repeating: "x", count: 244): "a name between two slashes of the path is too long",
        "{event}/" + String(repeating: "{event}", count: 8): "a name between two slashes of the path is too long",
    ]

    @Test("a path that cannot be used is a problem", arguments: wrong.map(\.key))
    func problems(path: String) {
        let problem = #expect(throws: PathTemplate.Problem.self) { try Self.paths(path) }
        #expect(problem?.sentence == Self.wrong.first { $0.key == path }?.value)
    }

    @Test("the folder that must exist is the one above the lowest fixed one")
    func folderAbove() throws {
        for (path, folder) in ["a/b/{event}": "a", "a/{event}": ".", "x": ".", "/a/x": "/", "/a/b/x": "/a"] {
            #expect(try PathTemplate(path).folderAboveRoot == folder, "\(path)")
        }
    }
}
