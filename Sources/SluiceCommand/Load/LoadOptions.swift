import ArgumentParser
import EventPipeline
import EventValidation
import Foundation
import Loader
import SettingDefinitions
import SluiceSettings
import TrackerKit

/// The options of `sluice load` and its subcommands.
struct LoadOptions: ParsableArguments, SettingOptions {
    @Option(help: .setting(.loadFrom, valueName: "url"))
    var from: String?

    @Option(help: .setting(.loadGroup, valueName: "name"))
    var group: String?

    @Option(help: ArgumentHelp("Deliver to this tracker only; can be repeated. Default: all.", valueName: "tracker"))
    var to: [String] = []

    func add(to settings: inout CommandLineSettings) {
        settings.set(.loadFrom, from)
        settings.set(.loadGroup, group)
    }

    /// What the loader reads.
    ///
    /// - Throws: `ValidationError` if the topic or the loader's name is missing.
    static func configuration(_ settings: Settings) throws -> LoaderConfiguration {
        guard let load = settings.load else {
            throw ValidationError("Give the topic with --from kafka://host:port/topic, or set load.from.")
        }
        guard let group = load.group else {
            throw ValidationError(
                "Give the loader a name with --group, or set load.group; its processes share the partitions."
            )
        }
        guard !group.isEmpty, group.utf8.count <= 200, !group.contains(where: \.isWhitespace) else {
            throw ValidationError("The loader's name has 1 to 200 bytes and no spaces, not '\(group)'.")
        }
        if let instance = load.instance, !isInstance(instance) {
            throw ValidationError(
                "load.instance has 1 to 249 letters, digits, '.', '_' and '-', not '\(instance)'."
            )
        }
        var configuration = LoaderConfiguration(
            name: group,
            brokers: load.brokers,
            topic: load.topic,
            properties: load.properties,
            owner: "\(hostName):\(ProcessInfo.processInfo.processIdentifier)"
        )
        configuration.instance = load.instance
        configuration.readChangingProperties = load.readChangingProperties
        if let patience = settings.pipeline.parkAfter { configuration.limits.patience = patience }
        return configuration
    }

    /// The trackers that the plan's events name.
    ///
    /// - Throws: `ValidationError` if one of them writes to the topic that is read.
    func trackers(_ wiring: Wiring) throws -> [any Tracker] {
        let configured = wiring.trackers()
        if let load = wiring.settings.load { try checkTopic(load, of: configured, wiring.catalog) }
        let trackers = try wiring.select(to, from: configured)
            .filter { wiring.catalog.mask(ofTracker: $0.name) != 0 }
        guard !trackers.isEmpty else {
            throw Terminal.failure("No configured tracker gets events of the plan, so there is nothing to load.")
        }
        return trackers
    }

    /// Throws if a tracker writes to the topic that is read, since its records would be loaded again and again.
    private func checkTopic(_ load: LoadSettings, of trackers: [any Tracker], _ catalog: EventCatalog) throws {
        for case let tracker as any TopicTracker in trackers
        where try tracker.writes(toTopic: load.topic, at: load.brokers, for: catalog) {
            throw ValidationError(
                "The tracker '\(tracker.name)' writes to the topic '\(load.topic)', from which its records would be loaded again."
            )
        }
    }

    /// Whether Kafka accepts the name, which has the rules of a topic's.
    private static func isInstance(_ name: String) -> Bool {
        name.wholeMatch(of: /[A-Za-z0-9._-]{1,249}/) != nil && name != "." && name != ".."
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
