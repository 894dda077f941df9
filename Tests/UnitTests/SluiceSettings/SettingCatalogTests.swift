import Foundation
import PlanReading
import SettingDefinitions
import SluiceSettings
import Testing
import TrackerKit

/// Every setting, by what its declaration says.
@Suite("The catalog of settings")
struct SettingCatalogTests {
    static let keys = SettingCatalog.keys

    @Test("the names and the environment variables are unique, and a setting is found by its name")
    func unique() {
        #expect(Self.keys.count > 80)
        #expect(Set(Self.keys.map(\.name)).count == Self.keys.count)
        #expect(Set(Self.keys.map(\.environmentVariable)).count == Self.keys.count)
        let options = Self.keys.compactMap(\.option)
        #expect(Set(options).count == options.count)
        #expect(Self.keys.allSatisfy { SettingCatalog.key(named: $0.name) == $0 })
    }

    @Test("every setting has a sentence that explains it, and a default of its kind", arguments: keys)
    func declaration(key: SettingKey) {
        #expect(key.summary.hasSuffix(".") && key.summary.first?.isLetter == true)
        guard case .value(let text) = key.defaultValue else { return }
        switch key.kind {
        case .text: #expect(!text.isEmpty)
        case .number: #expect(Int(text).map { key.range?.contains($0) == true } == true)
        case .flag: #expect(text == "true" || text == "false")
        case .list: Issue.record("A list has no default that the file could state.")
        }
    }

    @Test("every number has a range, and a number outside it is a problem, wherever it is stated")
    func ranges() throws {
        let folder = try SettingsFolder()
        let numbers = Self.keys.filter { $0.kind == .number }
        #expect(numbers.count > 30)
        for key in numbers {
            let range = try #require(key.range, "\(key.name)")
            let wrong = [range.lowerBound - 1] + (range.upperBound == .max ? [] : [range.upperBound + 1])
            for number in wrong {
                let words =
                    range.upperBound == .max ? "of at least 1" : "from \(range.lowerBound) to \(range.upperBound)"
                let sentence = "expected a whole number \(words), found \(number) [invalid-value]"
                let environment = [key.environmentVariable: "\(number)"]
                #expect(
                    folder.problems(environment: environment) == ["error: \(key.environmentVariable): \(sentence)"]
                )
                try folder.write(Self.nested(key.name, "\(number)"), to: "sluice.yaml")
                let problems = folder.problems("sluice.yaml")
                #expect(
                    problems.count == 1 && problems[0].hasSuffix(": error: \(key.name): \(sentence)"),
                    "\(problems)"
                )
            }
        }
    }

    @Test("both bounds of a range are accepted, and only some numbers may be 0")
    func bounds() throws {
        let folder = try SettingsFolder()
        for key in Self.keys.filter({ $0.kind == .number }) {
            let range = try #require(key.range)
            for bound in [range.lowerBound, min(range.upperBound, 1 << 40)] {
                // With a journal, requests have to wait.
                let environment = ["SLUICE_JOURNAL_ENABLED": "false", key.environmentVariable: "\(bound)"]
                #expect(folder.problems(environment: environment) == [])
            }
        }
        #expect(
            Self.keys.filter { $0.range?.lowerBound == 0 }.map(\.name) == [
                "events.maximumLeadDays", "http.maxWaitSeconds", "http.timeouts.drainSeconds",
                "exec.timeouts.graceSeconds", "journal.intervalMilliseconds", "journal.retention.ageHours",
                "delivery.lingerMilliseconds",
                "delivery.parkAfterSeconds", "shutdown.timeoutSeconds",
            ]
        )
    }

    @Test("a value of the wrong kind is a problem, for every setting, in the file and in the environment")
    func kinds() throws {
        let folder = try SettingsFolder()
        for key in Self.keys {
            let (value, found) =
                switch key.kind {
                case .text: ("[a]", "a list")
                case .number: ("'7'", "a text")
                case .flag: ("7", "a number")
                case .list: ("a", "a text")
                }
            try folder.write(Self.nested(key.name, value), to: "sluice.yaml")
            let problems = folder.problems("sluice.yaml")
            let end = ": error: \(key.name): expected \(key.kind.words), found \(found) [wrong-type]"
            #expect(problems.count == 1 && problems[0].hasSuffix(end), "\(problems)")
            guard key.kind == .number || key.kind == .flag else { continue }
            let variable = key.environmentVariable
            #expect(
                folder.problems(environment: [variable: "x"])
                    == ["error: \(variable): expected \(key.kind.words), found 'x' [wrong-type]"]
            )
        }
    }

    @Test("the console is the only tracker that needs no setting to exist")
    func defaults() {
        #expect(SettingCatalog.trackerTypeNames.filter(SettingCatalog.existsByDefault) == ["console"])
        #expect(SettingCatalog.existsByDefault("Console") && !SettingCatalog.existsByDefault("warehouse"))
    }

    @Test("a setting's places are its option, its variable and its key")
    func places() throws {
        let keys = try ["kafka.brokers", "admin.socket"].map { try #require(SettingCatalog.key(named: $0)) }
        #expect(
            keys.map(\.places) == [
                "--kafka, KAFKA_BROKERS or kafka.brokers", "SLUICE_ADMIN_SOCKET or admin.socket",
            ]
        )
    }

    @Test("every setting is read")
    func read() throws {
        let folder = try SettingsFolder()
        let kafka = ["SLUICE_LOAD_FROM": "kafka://a:1/t", "KAFKA_BROKERS": "a:1", "DATABASE_URL": "postgres://a/b"]
        var names: Set<String> = []
        for environment in [kafka, ["SLUICE_RELAY_URL": "kafka://a:1/t"]] {
            let reader = folder.reader(environment: environment)
            _ = Settings(reading: reader, keepsJournal: true)
            names.formUnion(reader.readNames)
        }
        #expect(Set(Self.keys.map(\.name)).subtracting(names) == [])
    }

    @Test("the file with all defaults is valid, and shows what no file shows")
    func example() throws {
        let folder = try SettingsFolder()
        try folder.write(ExampleFile.text, to: "example.yaml")
        let uncommented = ExampleFile.text.replacing(/(?m)^( *)#(?=\w)/.anchorsMatchLineEndings()) { "\($0.1)" }
        #expect(uncommented.contains("\n  listen: 127.0.0.1:8080\n"))
        try folder.write(uncommented, to: "all.yaml")
        #expect(folder.problems("example.yaml").isEmpty)
        #expect(folder.problems("all.yaml").isEmpty)
        let (shown, defaults) = (folder.shown("all.yaml"), folder.shown())
        #expect(defaults.count >= Self.keys.count)
        for (name, setting) in defaults { #expect(shown[name]?.value == setting.value, "\(name)") }
        for type in SettingCatalog.trackerTypes {
            let (name, values) = type.example
            for (key, value) in values {
                let setting = SettingName(key, ofTracker: name)
                // A list is written as YAML's.
                let texts = key.kind == .list ? String(value.dropFirst().dropLast().replacing(", ", with: "; ")) : value
                #expect(shown[setting.name]?.value.description == key.redacted(texts))
            }
        }
    }

    @Test("the trackers that mean something to a plan are types of trackers")
    func wellKnown() {
        #expect(Set(WellKnownTracker.all).isSubset(of: SettingCatalog.trackerTypeNames))
    }

    @Test("each type of trackers says what it needs, and a tracker without it is a problem")
    func required() throws {
        for type in SettingCatalog.trackerTypes {
            let folder = try SettingsFolder("trackers: { mine: { type: \(type.type) } }")
            let names = type.requiresOneOf.map { "trackers.mine.\($0.nameOfTracker ?? "")" }.joined(separator: " or ")
            let problem = "sluice.yaml:1:13: error: the tracker 'mine' needs \(names) [missing-setting]"
            #expect(folder.problems("sluice.yaml") == (type.requiresOneOf.isEmpty ? [] : [problem]))
        }
    }

    @Test("a tracker of the section has every setting of its type, and limits of its own")
    func trackers() throws {
        for type in SettingCatalog.trackerTypes {
            let keys = SettingCatalog.keys(ofTracker: type)
            #expect(keys.contains { $0.scope == .tracker(type: type.type) })
            for key in keys where key.kind == .number {
                let variable = SettingName(key, ofTracker: "Ware-house").environmentVariable
                let name = (key.nameOfTracker ?? "").uppercased()
                #expect(variable.replacing("_", with: "") == "SLUICETRACKERSWAREHOUSE" + name.replacing(".", with: ""))
                // The tracker of the type itself has the setting's own name, or a section if all trackers have the setting.
                let own = SettingName(key, ofTracker: type.type.capitalized).name
                #expect(own == (key.scope == .processAndTracker ? "trackers.\(type.type).\(key.name)" : key.name))
            }
        }
    }

    @Test("a setting that can be changed while the process runs takes a value of its kind, for all or one tracker")
    func changeable() {
        for key in Self.keys {
            let name = SettingName(changeable: key.name, trackers: ["a"])
            #expect(name?.key == (key.isChangeable ? key : nil), "\(key.name)")
            let own = SettingName(changeable: "trackers.A.\(key.name)", trackers: ["a"])
            #expect((own != nil) == (key.isChangeable && key.scope == .processAndTracker), "\(key.name)")
        }
        #expect(
            SettingName.changeableNames == [
                "queue.capacityInEvents", "queue.capacityInBytes", "delivery.maximumEvents",
                "delivery.lingerMilliseconds", "delivery.parkAfterSeconds", "log.level",
                "trackers.NAME.queue.capacityInEvents", "trackers.NAME.queue.capacityInBytes",
                "trackers.NAME.delivery.maximumEvents", "trackers.NAME.delivery.lingerMilliseconds",
            ]
        )
        #expect(SettingValue("x", .number) == nil)
        #expect(SettingValue("7", .number) == .number(7))
        #expect(SettingValue("", .text) == nil)
    }

    /// A YAML file that states one setting.
    private static func nested(_ name: String, _ value: String) -> String {
        let parts = name.split(separator: ".")
        return parts.enumerated().map { index, part in
            String(repeating: "  ", count: index) + "\(part):"
        }.joined(separator: "\n") + " \(value)\n"
    }
}
