import EventJournal
import EventModel
import EventPipeline
import Logging
import Operations
import SettingDefinitions
import SluiceHTTP
import SluiceKafka
import SluiceSettings
import Testing
import TrackerKit

/// What the settings are read into.
@Suite("Settings")
struct SettingsTests {
    private func settings(
        _ file: String = "",
        _ environment: [String: String] = [:],
        keepsJournal: Bool = true
    ) throws -> Settings {
        let reader = try SettingsFolder(file).reader("sluice.yaml", environment: environment)
        let settings = Settings(reading: reader, keepsJournal: keepsJournal)
        try reader.finish()
        return settings
    }

    @Test("nothing but defaults gives the configurations' own defaults")
    func defaults() throws {
        let settings = try settings()
        #expect(settings.pipeline == .journaled)
        #expect(settings.http.port == IngestConfiguration().port)
        #expect(settings.journal?.folder == "journal")
        #expect(settings.journal?.configuration.durability == .fsync)
        #expect(settings.keyFile == "keys.json" && !settings.requiresKeyFile)
        #expect(settings.privatePort?.socketPath == "journal.sock")
        #expect(settings.controlFile == "journal.control.json")
        #expect(settings.trackers.map(\.name) == ["console"])
    }

    @Test("a number, a flag, a text, a choice and a list go where they belong")
    func places() throws {
        let settings = try settings(
            """
            events: { maximumAgeDays: 30, maximumLeadDays: 0 }
            http: { listen: '[::1]:81', timeouts: { headSeconds: 3 }, proxies: [10.0.0.0/8], recordTraceparent: true }
            admin: { listen: 'localhost:82' }
            shutdown: { timeoutSeconds: 7 }
            log: { level: error, format: json }
            trackers: { strict: true }
            """
        )
        #expect(settings.http.host == "::1" && settings.http.port == 81)
        #expect(settings.http.timeouts.head == .seconds(3))
        #expect(settings.pipeline.eventTimes == TimeWindow(past: .seconds(30 * 86_400), ahead: .zero))
        #expect(settings.http.proxies.count == 1 && settings.http.recordsTraceparent)
        #expect(settings.privatePort?.host == "localhost" && settings.privatePort?.port == 82)
        #expect(settings.pipeline.shutdownTimeout == .seconds(7))
        #expect(settings.process.logLevel == .error && settings.process.logFormat == .json)
        #expect(settings.process.strictTrackers)
    }

    @Test("a tracker has limits of its own, and all others those of the process")
    func limits() throws {
        let settings = try settings(
            """
            queue: { capacityInEvents: 5 }
            delivery: { lingerMilliseconds: 9 }
            trackers:
              Postgres: { queue: { capacityInEvents: 6 } }
              Mine: { type: console, delivery: { maximumEvents: 7 } }
            """
        )
        #expect(settings.pipeline.queue.capacityInEvents == 5)
        #expect(settings.pipeline.queueByTracker.mapValues(\.capacityInEvents) == ["postgres": 6])
        #expect(settings.pipeline.deliveryByTracker.mapValues(\.maximumEvents) == ["mine": 7])
        #expect(settings.pipeline.deliveryByTracker["mine"]?.linger == .milliseconds(9))
        #expect(settings.trackers.map(\.name) == ["console", "Mine"])
    }

    @Test(
        "a tracker that wants many events at a time gets them, unless a setting of its own or of all trackers says otherwise",
        arguments: [
            ("", 100_000, 30_000), ("delivery: { lingerMilliseconds: 9 }", 100_000, 9),
            ("delivery: { maximumEvents: 10000, lingerMilliseconds: 100 }", 10_000, 100),
        ]
    )
    func ownLimits(general: String, events: Int, linger: Int) throws {
        let settings = try settings(
            """
            trackers:
              Lake: { type: exec, command: [target], protocol: singer }
              Other: { type: exec, command: [target], protocol: singer, delivery: { maximumEvents: 7 } }
              Plain: { type: exec, command: [program] }
            \(general)
            """
        )
        let limits = settings.pipeline.deliveryByTracker
        #expect(limits.mapValues(\.maximumEvents) == ["lake": events, "other": 7])
        #expect(limits["lake"]?.linger == .milliseconds(linger) && limits["other"]?.linger == .milliseconds(linger))
        #expect(limits["lake"]?.maximumBytes == 32 << 20)
        let name = try #require(SettingName(changeable: "delivery.maximumEvents", trackers: []))
        let changed = try settings.changing([name: .number(5)])
        #expect(changed.pipeline.deliveryByTracker.mapValues(\.maximumEvents) == ["lake": 5, "other": 7])
    }

    @Test("the journal's durability is by interval with the interval that is stated, or each second")
    func durability() throws {
        for (text, durability) in [
            ("durability: fsync", .fsync), ("durability: none", .none),
            ("durability: interval", .interval(.seconds(1))),
            ("durability: interval, intervalMilliseconds: 50", .interval(.milliseconds(50))),
        ] as [(String, JournalConfiguration.Durability)] {
            #expect(try settings("journal: { \(text) }").journal?.configuration.durability == durability)
        }
    }

    @Test("without a journal, queues wait where they would spill")
    func noJournal() throws {
        for (text, policy) in [("", FullPolicy.wait), ("queue: { policy: dropNewest }", .dropNewest)] {
            let settings = try settings("journal: { enabled: false }\n" + text)
            #expect(settings.journal == nil && settings.controlFile == nil)
            #expect(settings.pipeline.queue.fullPolicy == policy)
        }
        #expect(try settings("queue: { policy: spill }", keepsJournal: false).pipeline.queue.fullPolicy == .wait)
    }

    @Test(
        "settings that contradict each other are a problem",
        arguments: [
            ("http: { tls: { certificate: a } }", "http.tls.certificate: needs http.tls.privateKey as well"),
            ("http: { tls: { privateKey: a } }", "http.tls.privateKey: needs http.tls.certificate as well"),
            (
                "http: { tls: { clientAuthorities: a } }",
                "http.tls.clientAuthorities: needs http.tls.certificate as well"
            ),
            ("http: { open: true, keys: a }", "http.open: anyone may send then"),
            ("http: { maxWaitSeconds: 0 }", "http.maxWaitSeconds: expected at least 1 with a journal"),
            ("admin: { token: short }", "admin.token: expected a token of at least 16 bytes, found 5"),
            ("privacy: { hashKey: short }", "privacy.hashKey: expected a key of at least 16 bytes, found 5"),
            (
                "{ journal: { enabled: false }, queue: { policy: spill } }",
                "queue.policy: a queue can spill only with a journal"
            ),
            (
                "{ journal: { enabled: false }, trackers: { a: { type: console, queue: { policy: spill } } } }",
                "trackers.a.queue.policy: a queue can spill only with a journal"
            ),
            (
                "{ relay: { url: 'kafka://a:1/t', acknowledge: brokers }, queue: { policy: dropOldest } }",
                "queue.policy: a queue that drops events cannot be combined"
            ),
        ]
    )
    func contradictions(file: String, sentence: String) throws {
        let problems = try SettingsFolder(file).problems("sluice.yaml")
        #expect(problems.count == 1 && problems[0].contains("error: " + sentence), "\(problems)")
    }

    @Test(
        "a relay takes the place of all trackers, and waits five seconds for its brokers unless a setting says how long"
    )
    func relay() throws {
        let relay = "relay: { url: 'kafka://a:1,b:2/t', acknowledge: brokers }\nconsole: { enabled: true }\n"
        for (text, timeout) in [("", "5000"), ("kafka: { timeouts: { deliverySeconds: 30 } }", "30000")] {
            let settings = try settings(relay + text)
            let kafka = try #require(settings.trackers.first?.configuration(of: KafkaTracker.self))
            #expect(settings.trackers.map(\.name) == ["relay"])
            #expect(kafka.brokers == "a:1,b:2" && kafka.topic == "t" && kafka.sendsPlanDigest)
            #expect(kafka.properties["message.timeout.ms"] == timeout)
            #expect(settings.pipeline.acknowledgement == .delivered)
        }
        let stored = try settings("relay: { url: 'kafka://a:1/t' }")
        #expect(stored.pipeline.acknowledgement == .stored)
        #expect(stored.load?.topic == "t")
    }

    @Test("a change while the process runs counts more than every source, and a value out of range is refused")
    func changes() throws {
        let running = try settings("queue: { capacityInEvents: 5 }", ["SLUICE_LOG_LEVEL": "error"])
        let events = try #require(SettingName(changeable: "queue.capacityInEvents", trackers: []))
        let level = try #require(SettingName(changeable: "log.level", trackers: []))
        let changed = try running.changing([events: .number(9), level: .text("debug")])
        #expect(changed.pipeline.queue.capacityInEvents == 9 && changed.process.logLevel == .debug)
        #expect(throws: SettingsError.self) { try running.changing([events: .number(0)]) }
    }
}
