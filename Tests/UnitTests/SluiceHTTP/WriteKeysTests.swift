import EventModel
import EventSchema
import EventValidation
import Foundation
import PipelineTestSupport
import SluiceHTTP
import SluiceTesting
import TestCases
import TestPromises
import Testing

@Suite("Write keys")
struct WriteKeysTests {
    private static let catalog = EventCatalog(plan: TrackingPlan(events: []))
    private static let start = Timestamp(microseconds: 1_767_225_600_000_000)

    private static func later(_ seconds: Int64) -> Timestamp {
        Timestamp(microseconds: start.microseconds + seconds * 1_000_000)
    }

    private static func key(_ name: String, _ texts: String...) -> WriteKey {
        WriteKey(name: name, values: texts.map { WriteKey.Value(text: $0, created: start) })
    }

    private static func name(of text: String, in keys: WriteKeys, at seconds: Int64 = 0) throws -> String? {
        let lookup = KeyLookup(keys)
        return lookup.grant(for: Array(text.utf8), in: try #require(lookup.ring), now: later(seconds))?.name
    }

    @Test("a key is found by each of its values, until that expires")
    func values() throws {
        let keys = WriteKeys(catalog: Self.catalog)
        #expect(keys.isOpen)
        var rotated = Self.key("web", "old", "new")
        rotated.values[0].expires = Self.later(10)
        try keys.replace(with: [rotated, Self.key("app", "third")])
        #expect(!keys.isOpen)
        #expect(try Self.name(of: "old", in: keys, at: 9) == "web")
        #expect(try Self.name(of: "old", in: keys, at: 10) == nil)
        #expect(try Self.name(of: "new", in: keys, at: 10) == "web")
        #expect(try Self.name(of: "third", in: keys) == "app")
        for other in ["", "ol", "old ", "OLD", String(repeating: "x", count: 300)] {
            #expect(try Self.name(of: other, in: keys) == nil)
        }
    }

    @Test("a lookup that remembers a key notices that it expires, and that it is revoked")
    func remembered() throws {
        let keys = WriteKeys(catalog: Self.catalog)
        var key = Self.key("web", "text")
        key.values[0].expires = Self.later(10)
        try keys.replace(with: [key])
        let lookup = KeyLookup(keys)
        func name(at seconds: Int64) throws -> String? {
            lookup.grant(for: Array("text".utf8), in: try #require(lookup.ring), now: Self.later(seconds))?.name
        }
        #expect(try name(at: 0) == "web")
        #expect(try name(at: 10) == nil)
        try keys.replace(with: [Self.key("renamed", "text")])
        #expect(try name(at: 10) == "renamed")
        try keys.replace(with: [])
        #expect(try name(at: 0) == nil)
        #expect(!keys.isOpen, "without its last key a server accepts nothing")
    }

    @Test("only keys with a value that has not expired count as keys that share the journal")
    func validKeys() throws {
        let keys = WriteKeys(catalog: Self.catalog)
        var rotated = Self.key("rotated", "old", "new")
        rotated.values[0].expires = Self.later(10)
        var ending = Self.key("ending", "first", "last")
        ending.values[0].expires = Self.later(20)
        ending.values[1].expires = Self.later(10)
        try keys.replace(with: [rotated, ending, Self.key("lasting", "x"), Self.key("revoked")])
        let ring = try #require(KeyLookup(keys).ring)
        #expect([0, 19, 20].map { ring.validKeyCount(now: Self.later($0)) } == [3, 3, 2])
    }

    @Test("a replaced key keeps what was counted under its name")
    func countsStay() throws {
        let keys = WriteKeys(catalog: Self.catalog)
        var key = Self.key("web", "a")
        key.limits.eventsPerDay = 5
        try keys.replace(with: [key])
        let lookup = KeyLookup(keys)
        let grant = lookup.grant(for: Array("a".utf8), in: try #require(lookup.ring), now: Self.start)
        #expect(grant?.limiter.take(5, now: Self.start) == nil)
        key.values = [WriteKey.Value(text: "b", created: Self.start)]
        try keys.replace(with: [key])
        let changed = lookup.grant(for: Array("b".utf8), in: try #require(lookup.ring), now: Self.start)
        #expect(changed?.limiter.take(1, now: Self.start) != nil)
    }

    @Test("invalid keys are refused with a sentence, and the earlier ones stay")
    func invalid() throws {
        let keys = WriteKeys(catalog: Self.catalog)
        try keys.replace(with: [Self.key("web", "text")])
        var badOrigin = Self.key("a", "b")
        badOrigin.origins = ["shop.example"]
        var badRate = Self.key("a", "b")
        badRate.limits.eventsPerSecond = 0
        var badBurst = Self.key("a", "b")
        badBurst.limits.burst = 5
        for (bad, part) in [
            ([Self.key("", "x")], "name"), ([Self.key("a\nb", "x")], "name"), ([badOrigin], "shop.example"),
            ([badRate], "limits"), ([badBurst], "burst"), ([Self.key("a", "x"), Self.key("a", "y")], "Two keys"),
            ([Self.key("a", "x"), Self.key("b", "x")], "is also one of"),
            ([WriteKey(name: "a", values: [.init(digest: "xyz", created: Self.start, expires: nil)])], "digest"),
        ] {
            let error = #expect(throws: IngestError.self) { try keys.replace(with: bad) }
            #expect(error?.message.contains(part) == true)
        }
        #expect(try Self.name(of: "text", in: keys) == "web")
    }

    @Test("a file contains everything of a key but its text")
    func file() throws {
        let key = WriteKey(
            name: "web",
            values: [
                WriteKey.Value(text: "secret-text", created: Self.start, expires: Self.later(10)),
                WriteKey.Value(text: "other", created: Self.start),
            ],
            events: ["Item Purchased"],
            limits: WriteKey.Limits(eventsPerSecond: 10, burst: 20, eventsPerDay: 30),
            origins: ["https://shop.example"]
        )
        let bytes = KeyFile.bytes(of: [key, Self.key("app", "x")])
        #expect(try KeyFile.keys(from: bytes) == [key, Self.key("app", "x")])
        #expect(!String(decoding: bytes, as: UTF8.self).contains("secret-text"))
        for bad in [
            "", "[]", #"{"keys":[{"name":"a"}]}"#,
            #"{"keys":[{"name":"a","values":[{"sha256":"","created":"today"}]}]}"#,
        ] {
            #expect(throws: KeyFile.Problem.self) { try KeyFile.keys(from: Array(bad.utf8)) }
        }
    }
}

@Suite("The file with the write keys, while a server runs")
struct KeyFileServiceTests {
    private let folder: URL
    private let keys = WriteKeys(catalog: EventCatalog(plan: TrackingPlan(events: [])))
    private let log = RecordingLog()
    private let clock = ManualClock()

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "sluice-keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private var path: String { folder.appending(path: "keys.json").path }

    private func service() -> KeyFileService {
        KeyFileService(path: path, keys: keys, logger: log.logger, clock: clock)
    }

    private func write(_ text: String) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    private func write(_ keys: [WriteKey]) throws {
        try write(String(decoding: KeyFile.bytes(of: keys), as: UTF8.self))
    }

    private static let start = Timestamp(microseconds: 1_767_225_600_000_000)

    private static func key(_ name: String, daily: Int? = nil) -> WriteKey {
        WriteKey(
            name: name,
            values: [WriteKey.Value(text: name + "-text", created: start)],
            limits: WriteKey.Limits(eventsPerDay: daily)
        )
    }

    private func grant(_ name: String) -> KeyGrant? {
        let lookup = KeyLookup(keys)
        return lookup.ring.flatMap { lookup.grant(for: Array((name + "-text").utf8), in: $0, now: Self.start) }
    }

    @Test("without a file anyone may send, until one appears")
    func appears() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let service = service()
        try service.load()
        service.look()
        #expect(keys.isOpen)
        try write([Self.key("web")])
        service.look()
        #expect(grant("web") != nil)
    }

    @Test(
        "a file that is removed or damaged changes nothing, and is logged once, and a damaged one again each minute",
        .promise("key-changes")
    )
    func damaged() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write([Self.key("web")])
        let service = service()
        try service.load()
        try write("{")
        for _ in 0..<3 { service.look() }
        #expect(log.errors.count == 1)
        clock.advance(by: .seconds(60))
        service.look()
        #expect(log.errors.count == 2)
        #expect(log.errors.last?.contains("failures=3 ") == true)
        try FileManager.default.removeItem(atPath: path)
        for _ in 0..<3 { service.look() }
        #expect(log.all.count { $0.contains("is gone") } == 1)
        #expect(grant("web") != nil)
        try write([Self.key("app")])
        service.look()
        #expect(grant("web") == nil)
        #expect(grant("app") != nil)
    }

    @Test("a damaged file that is corrected is one line with the time for which it was damaged")
    func corrected() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write([Self.key("web")])
        let service = service()
        try service.load()
        try write("{")
        service.look()
        clock.advance(by: .seconds(7))
        try write([Self.key("app")])
        service.look()
        #expect(log.all.last?.hasPrefix("The write keys have changed. failures=1 ") == true)
        #expect(log.all.last?.hasSuffix("seconds=7.0") == true)
        #expect(log.all.count == 2)
    }

    @Test("a damaged file stops the start", .promise("key-changes"))
    func damagedAtStart() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("{")
        #expect(throws: KeyFile.Problem.self) { try service().load() }
    }

    @Test(
        "a file with keys may be a link, as Kubernetes mounts it; a pipe or a folder is refused at once",
        arguments: HostileFile.allCases
    )
    func hostile(hostile: HostileFile) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write([Self.key("web", daily: 10)])
        let mounted = folder.appending(path: "mounted").path
        try FileManager.default.copyItem(atPath: path, toPath: mounted)
        try hostile.put(at: path, elsewhere: folder)
        guard hostile != .link else {
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: mounted)
            try service().load()
            return #expect(grant("web") != nil)
        }
        if hostile == .danglingLink {
            #expect(try KeyFile.contents(of: path) == nil)
        } else {
            #expect(throws: KeyFile.Problem.self) { try KeyFile.contents(of: path) }
        }
    }

    @Test(
        "anything but a regular file in place of the day's numbers is replaced, and what a link leads to stays as it is",
        .promise("replaced-files"),
        arguments: HostileFile.allCases
    )
    func hostileUsage(hostile: HostileFile) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write([Self.key("web", daily: 10)])
        try hostile.put(at: path + ".usage", elsewhere: folder)
        let service = service()
        try service.load()
        #expect(grant("web")?.limiter.take(10, now: Self.start) == nil)
        service.look()
        #expect(!hostile.hasHarmed(elsewhere: folder))
        if hostile != .folder { #expect(try RegularFile.contents(own: path + ".usage").isEmpty == false) }
    }

    @Test("the daily counts survive a restart", .promise("key-limits"))
    func usage() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write([Self.key("web", daily: 10)])
        let service = service()
        try service.load()
        #expect(grant("web")?.limiter.take(10, now: Self.start) == nil)
        service.look()
        let restarted = WriteKeys(catalog: EventCatalog(plan: TrackingPlan(events: [])))
        try KeyFileService(path: path, keys: restarted, logger: log.logger, clock: clock).load()
        #expect(restarted.usage["web"]?.events == 10)
    }

    @Test(
        "a damaged file of the day's numbers counts as empty",
        arguments: [
            "{", #"{"web":[9223372036854775807,5]}"#, #"{"web":[20000,9223372036854775807]}"#, #"{"web":[-1,-1]}"#,
        ]
    )
    func damagedUsage(text: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write([Self.key("web", daily: 10)])
        try text.write(toFile: path + ".usage", atomically: true, encoding: .utf8)
        try service().load()
        #expect(grant("web")?.limiter.take(10, now: Self.start) == nil)
        #expect(grant("web")?.limiter.take(1, now: Self.start) != nil)
    }

    @Test("a misspelt limit is an error, because it would be none")
    func unknownMember() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write(#"{"keys":[{"name":"a","values":[],"eventPerDay":5}]}"#)
        let problem = #expect(throws: KeyFile.Problem.self) { try service().load() }
        #expect(problem?.message.contains("eventPerDay") == true)
    }

    @Test("an event that the plan does not have is logged at the start, and whenever the keys or the plan are replaced")
    func unknownEvent() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var key = Self.key("web")
        key.events = ["Sold"]
        try write([key])
        let service = service()
        try service.load()
        let warning = "Write keys name events that the plan does not have. events=Sold "
        func warnings() -> Int {
            for _ in 0..<3 { service.look() }
            return log.all.count { $0.hasPrefix(warning) }
        }
        #expect(warnings() == 1)
        let sold = EventDefinition(key: "Sold", trackers: ["console"], location: PlanLocation(file: "shop.plist"))
        keys.replacePlan(with: EventCatalog(plan: TrackingPlan(events: [sold])))
        #expect(warnings() == 1)
        keys.replacePlan(with: EventCatalog(plan: TrackingPlan(events: [])))
        #expect(warnings() == 2)
        key.origins = ["https://shop.example"]
        try write([key])
        #expect(warnings() == 3)
    }
}
