import SluiceSettings
import Testing

/// What a configuration file may be, and what is said about one that is wrong.
@Suite("Configuration files")
struct ConfigurationFileTests {
    /// A file with a problem of each kind.
    static let broken = """
        http:
          lisen: 127.0.0.1:80
          listen: 80
          maxWaitSeconds: "3"
          timeouts: { headSeconds: 1.5 }
          http2: 1
        http:
          listen: nowhere
          listen: 127.0.0.1:80
        queue:
          capacityInEvents: 0
          policy: full
          lingerMilliseconds: 4
        kafka: { properties: [debug=all, 7] }
        log: info
        httpp: { listen: a }
        privacy: { hashKeyFile: none }
        journal: { enabled: on, maximumBytes: 0x10 }

        """

    @Test("each problem of a YAML file is found, with its line, its column and the fix")
    func problems() throws {
        let expected = [
            "2:3: error: there is no setting 'http.lisen'; did you mean 'http.listen'? [unknown-key]",
            "3:11: error: http.listen: expected a text, found a number; put it in quotation marks [wrong-type]",
            "4:19: error: http.maxWaitSeconds: expected a whole number, found a text [wrong-type]",
            "5:28: error: http.timeouts.headSeconds: expected a whole number, found a number with a fraction [wrong-type]",
            "6:10: error: http.http2: expected a section with keys, found a number [wrong-type]",
            "7:1: error: the key 'http' is there twice, first in line 1 [duplicate-key]",
            "8:11: error: http.listen: expected host:port with a port from 0 to 65535, found 'nowhere' [invalid-value]",
            "9:3: error: the key 'listen' is there twice, first in line 8 [duplicate-key]",
            "11:21: error: queue.capacityInEvents: expected a whole number of at least 1, found 0 [invalid-value]",
            "12:11: error: queue.policy: expected one of wait, spill, dropNewest, dropOldest, found 'full' [invalid-value]",
            "13:3: error: there is no setting 'queue.lingerMilliseconds'; did you mean 'delivery.lingerMilliseconds'?"
                + " [unknown-key]",
            "14:34: error: kafka.properties: expected a text, found a number; put it in quotation marks [wrong-type]",
            "15:6: error: log: expected a section with keys, found a text [wrong-type]",
            "16:1: error: there is no setting 'httpp'; did you mean 'http'? [unknown-key]",
            "17:25: error: privacy.hashKeyFile: the file 'none' cannot be read [invalid-value]",
            "18:21: error: journal.enabled: expected true or false, found 'on' [wrong-type]",
            "18:39: error: journal.maximumBytes: expected a whole number, found one that is too large or not decimal"
                + " [wrong-type]",
        ]
        #expect(try SettingsFolder(Self.broken).problems("sluice.yaml") == expected.map { "sluice.yaml:" + $0 })
    }

    @Test("the problems of a JSON file are found, which may be indented with tabs")
    func json() throws {
        let folder = try SettingsFolder()
        try folder.write(
            "{\n\t\"http\": {\"listen\":80,\"listen\":\"127.0.0.1:0\"},\n\t\"queue\":{\"polcy\":\"wait\"},\r\n\t\"log\":null}",
            to: "sluice.json"
        )
        let expected = [
            "2:20: error: http.listen: expected a text, found a number; put it in quotation marks [wrong-type]",
            "2:23: error: the key 'listen' is there twice, first in line 2 [duplicate-key]",
            "3:11: error: there is no setting 'queue.polcy'; did you mean 'queue.policy'? [unknown-key]",
        ]
        #expect(folder.problems("sluice.json") == expected.map { "sluice.json:" + $0 })
    }

    @Test("JSON with surrogate escapes and a tab before the first brace is read, with its lines and columns")
    func escapedJSON() throws {
        let folder = try SettingsFolder()
        let key = #""\ud83d\ude00a""#
        try folder.write(
            "\t{\"log\": {\(key): 1, \"lvl\": 2},\n"
                + #"\#t"kafka": {"topic": "a\\\"\ud83d\uDE00\u00e9", "topik": 1}, "trackers": {"#
                + "\(key): {\"type\": \"consol\"}}}\n",
            to: "sluice.json"
        )
        let expected = [
            "1:11: error: there is no setting 'log.😀a'; 'sluice config example' shows all settings [unknown-key]",
            "1:31: error: there is no setting 'log.lvl'; did you mean 'log.level'? [unknown-key]",
            "2:48: error: there is no setting 'kafka.topik'; did you mean 'kafka.topic'? [unknown-key]",
            "2:100: error: trackers.😀a.type: unknown type 'consol'; did you mean 'console'? [invalid-value]",
        ]
        #expect(folder.problems("sluice.json") == expected.map { "sluice.json:" + $0 })
        try folder.write(#"{"kafka": {"brokers": "a:1", "topic": "a\\\"\ud83d\uDE00\u00e9\/"}}"#, to: "valid.json")
        #expect(folder.shown("valid.json")["kafka.topic"]?.value == .text("a\\\"😀é/"))
        try folder.write("{\"kafka\": {\"topic\": \"\u{7f}\"}}", to: "control.json")
        let control = folder.problems("control.json")
        #expect(control.count == 1 && control[0].hasPrefix("control.json:1:1: error: cannot be read: "), "\(control)")
    }

    @Test(
        "a file that is not YAML or not JSON is a problem with its place",
        arguments: [
            ("a.yaml", "a: [1\nb: 2", "a.yaml:2:2: error: not YAML: while parsing a flow sequence in line 1, "),
            ("b.yml", "log:\n\tlevel: info", "b.yml:2:1: error: not YAML: "),
            ("c.yaml", "log:\n---\nlog:", "c.yaml:2:1: error: not YAML: expected a single document in the stream"),
            ("d.json", "{\"log\":", "d.json:2:1: error: not JSON: while parsing a flow node"),
            ("g.json", "{\n  \"http\": {\"open\": tru}}", "g.json:2:23: error: not JSON: Invalid value"),
            ("e.json", "{'log': null}", "e.json:1:2: error: not JSON: Invalid value"),
            ("f.json", "log:", "f.json:1:1: error: not JSON: "),
            ("g.yaml", "- a", "g.yaml:1:1: error: expected settings by their names, found a list [wrong-type]"),
        ]
    )
    func syntax(name: String, text: String, beginning: String) throws {
        let folder = try SettingsFolder()
        try folder.write(text, to: name)
        let problems = folder.problems(name)
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix(beginning) == true, "\(problems)")
    }

    @Test(
        "an empty file and keys without a value are accepted",
        arguments: [
            ("empty.yaml", ""), ("empty.json", ""), ("comment.yaml", "# nothing\n"),
            ("null.yml", "log:\n  level:\nhttp: ~\n"),
            ("full.json", #"{"log": {"level": "debug"}, "http": {"proxies": ["10.0.0.0/8"], "open": true}}"#),
        ]
    )
    func valid(name: String, text: String) throws {
        let folder = try SettingsFolder()
        try folder.write(text, to: name)
        #expect(folder.problems(name).isEmpty)
    }

    @Test("a file that cannot be read is a problem")
    func missing() throws {
        let problems = try SettingsFolder().problems("none.yaml")
        #expect(problems == ["none.yaml:1:1: error: No such file or directory [unreadable-file]"])
    }
}
