package import EventModel
package import Logging
import ServiceLifecycle

/// Changes settings of a running process for a time: the highest of their layers, above options, environment, file and defaults.
///
/// The end of a change is a time of the wall clock, so that it is the same after a restart.
package final class SettingChanges: Service {
    /// How often it is looked whether a change has ended.
    private static let pause = Duration.seconds(1)

    private let settings: any ChangeableSettings
    private let file: ControlFile
    private let logger: Logger
    private let clock: RelativeClock
    private let now: @Sendable () -> Timestamp

    /// Applies the changes of an earlier run that have not ended.
    ///
    /// Those that the process can no longer make, because it was started with other settings, are logged and forgotten.
    package init(
        of settings: any ChangeableSettings,
        in file: ControlFile,
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.settings = settings
        self.file = file
        self.logger = logger
        self.clock = RelativeClock(clock)
        self.now = now
        applyEarlierChanges()
    }

    /// The names of the settings that can be changed.
    var changeableNames: [String] { settings.changeableNames }

    /// The changes in effect, by the settings' names.
    package var current: [SettingChange] { file.contents.settings ?? [] }

    private func applyEarlierChanges() {
        var kept: [SettingChange] = []
        var apply: @Sendable () -> Void = {}
        for change in current where !change.hasEnded(at: now()) {
            do throws(SettingRefusal) {
                apply = try settings.applying(Self.values(kept + [change]))
                kept.append(change)
            } catch {
                let facts: Logger.Metadata = ["reason": "\(error.sentence)"]
                logger.warning(
                    "A changed setting of an earlier run cannot be applied; the change is forgotten.",
                    metadata: Self.facts(of: change).merging(facts) { $1 }
                )
            }
        }
        for change in kept {
            logger.notice("The setting is changed since an earlier run.", metadata: Self.facts(of: change))
        }
        file.keepOnly(kept)
        apply()
    }

    /// Changes a setting, in place of an earlier change.
    ///
    /// - Throws: `SettingRefusal` if it cannot be changed, or another error if the change cannot be stored; then nothing is changed.
    func set(
        _ setting: String,
        to value: String,
        for duration: SettingDuration,
        askedBy asker: Asker
    ) async throws -> SettingChange {
        let key = try settings.name(of: setting)
        let end = Timestamp(
            microseconds: now().microseconds + Int64(duration.seconds) * 1_000_000,
            fractionDigits: 0
        )
        let change = SettingChange(
            key: key,
            value: value,
            until: end.description,
            user: asker.user,
            through: asker.through
        )
        try await file.change { [settings, logger] contents in
            let others = (contents.settings ?? []).filter { $0.key != key }
            contents.settings = (others + [change]).sorted { $0.key < $1.key }
            let apply = try settings.applying(Self.values(contents.settings ?? []))
            return {
                Self.log("The setting was changed for a time.", [Self.facts(of: change)], logger, around: apply)
            }
        }
        return change
    }

    /// Ends the change of a setting.
    ///
    /// - Throws: `SettingRefusal` if it is not changed, or another error if that cannot be stored; then it stays changed.
    func undo(_ setting: String, askedBy asker: Asker) async throws {
        let key = try settings.name(of: setting)
        try await file.change { [settings, logger] contents in
            guard let change = contents.settings?.first(where: { $0.key == key }) else {
                throw SettingRefusal(.notChanged, "The setting '\(key)' is not changed.")
            }
            contents.settings?.removeAll { $0.key == key }
            let apply = try settings.applying(Self.values(contents.settings ?? []))
            let facts = Self.facts(of: change).merging(asker.metadata) { $1 }
            return {
                Self.log("The change of the setting was undone.", [facts], logger, around: apply)
            }
        }
    }

    /// Ends changes when their time is over, until a graceful shutdown or cancellation.
    package func run() async {
        await cancelWhenGracefulShutdown {
            while (try? await self.clock.sleepUntil(self.clock.now() + Self.pause)) != nil { await self.endExpired() }
        }
    }

    private func endExpired() async {
        let time = now()
        guard current.contains(where: { $0.hasEnded(at: time) }) else { return }
        do {
            try await file.changeAtOnce { [settings, logger] contents in
                let ended = (contents.settings ?? []).filter { $0.hasEnded(at: time) }
                contents.settings?.removeAll { $0.hasEnded(at: time) }
                let apply = try settings.applying(Self.values(contents.settings ?? []))
                return {
                    Self.log("The change of the setting has ended.", ended.map(Self.facts), logger, around: apply)
                }
            }
        } catch {
            // A change that has ended is ignored at the next start.
            logger.warning(
                "The end of a changed setting could not be stored; it has ended nevertheless.",
                metadata: ["error": "\(error)"]
            )
        }
    }

    private static func values(_ changes: [SettingChange]) -> [String: String] {
        Dictionary(changes.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
    }

    private static func facts(of change: SettingChange) -> Logger.Metadata {
        var facts: Logger.Metadata = [
            "setting": "\(change.key)", "value": "\(change.value)", "until": "\(change.until)",
            "through": "\(change.through)",
        ]
        if let user = change.user { facts["user"] = "\(user)" }
        return facts
    }

    /// Logs a change and makes it, in the order in which the lines are logged if the change is about the level of the log.
    private static func log(
        _ message: Logger.Message,
        _ facts: [Logger.Metadata],
        _ logger: Logger,
        around change: () -> Void
    ) {
        let isLogged = logger.logLevel <= .notice
        if !isLogged { change() }
        for facts in facts { logger.notice(message, metadata: facts) }
        if isLogged { change() }
    }
}
