import ArgumentParser
import EventJournal
import EventModel
import EventPipeline
import EventQuarantine
import EventSchema
import EventValidation
import Foundation
import Logging
import Operations
import PlanTools
import SettingDefinitions
import SluiceHTTP
import SluiceKafka
import SluiceReplay
import SluiceSettings
import TrackerKit

/// The composition root: turns settings into a catalog, trackers, a journal, a pipeline and a server.
struct Wiring {
    let settings: Settings
    let catalog: EventCatalog
    let logger: Logger
    private let logLevel: SharedLogLevel

    /// Reads the plan and prints its diagnostics; throws exit status 1 if it has errors.
    init(_ settings: Settings) throws {
        self.init(settings, plan: try PlanFolder.plan(at: settings.process.eventsFolder))
    }

    /// Uses a plan that was already read; nothing below `minimumLogLevel` is logged, even if the settings ask for more.
    init(_ settings: Settings, plan: TrackingPlan, minimumLogLevel: Logger.Level? = nil) {
        self.settings = settings
        catalog = EventCatalog(plan: plan, hashKey: settings.hashKey, onlyTracker: settings.relay?.name)
        logLevel = SharedLogLevel(max(settings.process.logLevel, minimumLogLevel ?? settings.process.logLevel))
        logger = Logger(label: "sluice", factory: Self.handler(settings.process.logFormat, logLevel))
    }

    /// Makes the handler for a format of the log.
    private static func handler(
        _ format: ProcessSettings.LogFormat,
        _ level: SharedLogLevel
    ) -> @Sendable (String) -> any LogHandler {
        let isText = format == .text || format == .auto && Terminal.isInteractive
        return { label in
            SharedLevelLogHandler(
                isText ? TerminalLogHandler(label: label) : JSONLogHandler(label: label),
                level: level
            )
        }
    }

    // MARK: Trackers

    /// Creates the configured trackers.
    func trackers() -> [any Tracker] {
        // If a tracker that cannot start ends the command, a table or topic that cannot be used ends it as well.
        let context = TrackerContext(
            logger: logger,
            requiresEveryDestination: settings.pipeline.maximumStartAttempts != nil,
            recordsTraceparent: settings.http.recordsTraceparent
        )
        return settings.trackers.map { $0.tracker(in: context) }
    }

    /// Selects the trackers in `names`, compared without regard to case; all of them if it is empty.
    ///
    /// - Throws: `ValidationError` if a named tracker is not configured.
    func select(_ names: [String], from trackers: [any Tracker]) throws -> [any Tracker] {
        guard !names.isEmpty else { return trackers }
        let wanted = Set(names.map { $0.lowercased() })
        let configured = Set(trackers.map { $0.name.lowercased() })
        if let missing = wanted.subtracting(configured).sorted().first {
            let known = configured.isEmpty ? "none" : configured.sorted().joined(separator: ", ")
            throw ValidationError(
                "No tracker '\(missing)' is configured; there are: \(known).\(Self.advice(onMissing: missing))"
            )
        }
        return trackers.filter { wanted.contains($0.name.lowercased()) }
    }

    /// What to set for a tracker that needs no section of its own; empty for any other.
    private static func advice(onMissing tracker: String) -> String {
        guard let key = SettingCatalog.trackerType(named: tracker)?.requiresOneOf.first else { return "" }
        return " Set \(key.places)."
    }

    /// Says what to set if the plan hashes values and there is no key.
    static let missingHashKey =
        "The plan hashes sensitive values, so a key is needed: set privacy.hashKeyFile or SLUICE_PRIVACY_HASH_KEY."

    /// Why a plan may not be used with these settings; `nil` if it may.
    func problem(with catalog: EventCatalog) -> String? {
        if catalog.lacksHashKey { return Self.missingHashKey }
        guard catalog.onlyTracker != nil, let value = catalog.plan.restrictedValues.first else { return nil }
        return """
            Only some trackers may see \(value), and a relay sends every event to one topic, from which other trackers are \
            served: mark it as 'drop' or 'hash'.
            """
    }

    // MARK: The pipeline

    /// Creates the pipeline.
    ///
    /// With `reportsMissing`, warns of events that name a tracker that is not configured, or, with `trackers.strict`, throws exit
    /// status 1. Pass false if trackers were left out on purpose.
    func pipeline(
        trackers: [any Tracker],
        quarantine: Quarantine,
        journal: Journal? = nil,
        reportsMissing: Bool = true
    ) throws -> Pipeline {
        if let problem = problem(with: catalog) { throw Terminal.failure("\(problem)") }
        let pipeline: Pipeline
        if let journal {
            pipeline = try Pipeline(
                catalog: catalog,
                trackers: trackers,
                journal: journal,
                configuration: settings.pipeline,
                quarantine: quarantine,
                logger: logger
            )
        } else {
            pipeline = try Pipeline(
                catalog: catalog,
                trackers: trackers,
                configuration: settings.pipeline,
                quarantine: quarantine,
                logger: logger
            )
        }
        if reportsMissing { try reportMissingTrackers(configured: trackers.map(\.name)) }
        return pipeline
    }

    /// Warns of events that name a tracker that is not configured, and of trackers that no event names.
    ///
    /// - Throws: exit status 1 if there are events of the first kind, and `trackers.strict` is set.
    func reportMissingTrackers(configured: [String]) throws {
        let match = TrackerMatch(of: catalog, configured: configured)
        guard settings.process.strictTrackers, !match.unconfigured.isEmpty else { return match.log(to: logger) }
        for tracker in match.unconfigured { Terminal.printError("error: \(match.description(of: tracker))") }
        throw ExitCode(1)
    }

    /// Opens the journal; `nil` if none is configured.
    func journal() throws -> Journal? {
        guard let journal = settings.journal else { return nil }
        return try Journal(
            folder: journal.folder,
            configuration: journal.configuration,
            now: Timestamp.now().microseconds
        )
    }

    /// Opens the quarantine.
    func quarantine() throws -> Quarantine {
        try Quarantine(
            folder: settings.process.quarantineFolder,
            capacityInBytes: settings.process.quarantineCapacityInBytes,
            retention: settings.process.quarantineRetention,
            logger: logger
        )
    }

    /// Reads the receipts of `sluice forget` into a process's tombstones, and creates the service that watches their folder; `nil` if
    /// there is none.
    ///
    /// - Throws: exit status 1, with the reason printed, if they cannot be read: people would come back.
    func receipts(into register: TombstoneRegister) throws -> ReceiptWatch? {
        guard let path = settings.receiptsFolder, let key = settings.hashKey else { return nil }
        let watch = ReceiptWatch(ReceiptFolder(path: path), key: key, into: register, logger: logger)
        do throws(ReceiptFolder.Failure) {
            try watch.load()
        } catch {
            throw Terminal.failure("The receipts of 'sluice forget' cannot be used: \(error)")
        }
        return watch
    }

    // MARK: Ports

    /// Creates the private port; `nil` if it is switched off.
    ///
    /// - Throws: exit status 1, with the reason printed, if it cannot be used as the settings say.
    func privatePort(
        of pipeline: Pipeline,
        and server: IngestServer,
        planReloader: any PlanReloader,
        controlFile: ControlFile,
        settingChanges: SettingChanges,
        _ registry: PrometheusRegistry
    ) throws -> OperationsServer? {
        guard let configuration = settings.privatePort else { return nil }
        let replay = try quarantineReplay(through: pipeline)
        do throws(OperationsError) {
            return try OperationsServer(
                configuration: configuration,
                pipeline: pipeline,
                sources: [server],
                registry: registry,
                programVersion: RootCommand.version,
                planReloader: planReloader,
                quarantineReplay: replay,
                controlFile: controlFile,
                settingChanges: settingChanges,
                logger: logger
            )
        } catch {
            throw Wiring.failure(of: error)
        }
    }

    /// Prints why the private port or the socket cannot be used, and what to set; returns exit status 1, to be thrown.
    static func failure(of error: OperationsError) -> ExitCode {
        let advice: TerminalText
        switch error.code {
        case .noToken: advice = "Set admin.tokenFile."
        case .cannotListen:
            advice = "Set admin.listen to another address, use --no-admin, or end the process that uses it."
        case .unusableFile: advice = "Set admin.socket to another path."
        default: return Terminal.failure("\(error)")
        }
        return Terminal.failure("\(error)\(error.underlying == nil ? "" : ".") \(advice)")
    }

    /// Opens the file of what an operator has changed; without a journal, nothing is kept.
    ///
    /// - Throws: exit status 1, with the reason printed, if it cannot be used.
    func controlFile() throws -> ControlFile {
        do throws(OperationsError) {
            return try ControlFile(path: settings.controlFile)
        } catch {
            throw Terminal.failure("\(error)")
        }
    }

    /// Creates the service that changes settings while the process runs, and applies changes of an earlier run.
    func settingChanges(of pipeline: Pipeline, in file: ControlFile) -> SettingChanges {
        SettingChanges(
            of: RunningSettings(settings: settings, pipeline: pipeline, logLevel: logLevel),
            in: file,
            logger: logger
        )
    }

    /// Creates the service that takes changes of the plan's files into a running pipeline and its server.
    func planFiles(of pipeline: Pipeline, and server: IngestServer) throws -> PlanFiles {
        do throws(TrackerError) {
            return try PlanFiles(
                folder: settings.process.eventsFolder,
                pipeline: pipeline,
                server: server,
                findProblem: { [self] catalog in
                    if let problem = problem(with: catalog) { return problem }
                    guard settings.process.strictTrackers else { return nil }
                    let match = TrackerMatch(of: catalog, configured: pipeline.trackerNames)
                    return match.unconfigured.first.map(match.description)
                },
                logger: logger
            )
        } catch {
            throw Terminal.failure("\(error)")
        }
    }

    /// What sends quarantined events again; `nil` without a journal, because a record counts as sent once its event is stored.
    private func quarantineReplay(through pipeline: Pipeline) throws -> LiveReplay? {
        guard settings.journal != nil else { return nil }
        do throws(TrackerError) {
            return try LiveReplay(pipeline: pipeline, folder: settings.process.quarantineFolder)
        } catch {
            throw Terminal.failure("\(error)")
        }
    }

    /// Creates the server that accepts events for a pipeline.
    func server(of pipeline: Pipeline, keys: WriteKeys, tls: TLSFiles?) -> IngestServer {
        IngestServer(
            configuration: settings.http,
            catalog: catalog,
            pipeline: pipeline,
            keys: keys,
            tls: tls,
            planSchema: { JSONSchemaExport($0).envelope.text },
            logger: logger
        )
    }

    /// Reads the server's certificate; `nil` if it does not speak TLS.
    ///
    /// - Throws: exit status 1, with the reason printed, if the files cannot be used.
    func tls() throws -> TLSFiles? {
        do {
            return try settings.tls.map { try TLSFiles($0, logger: logger) }
        } catch {
            throw Terminal.failure("The server cannot speak TLS: \(error)")
        }
    }

    /// Reads the write keys, and creates the service that watches their file; `nil` if anyone may send.
    ///
    /// - Throws: exit status 1, with the reason printed, if the file cannot be used.
    func keys() throws -> (keys: WriteKeys, file: KeyFileService?) {
        let keys = WriteKeys(catalog: catalog)
        guard let path = settings.keyFile else { return (keys, nil) }
        let file = KeyFileService(path: path, keys: keys, logger: logger)
        do {
            try file.load()
        } catch {
            throw Terminal.failure("The write keys in '\(path)' cannot be used: \(error)")
        }
        if keys.isOpen, settings.requiresKeyFile {
            throw Terminal.failure(
                "The file '\(path)' with the write keys does not exist; 'sluice keys new NAME --keys \(path)' makes it."
            )
        }
        return (keys, file)
    }

    /// Logs that a server that listens needs no keys, unless the settings say so.
    func noteMissingKeys(_ keys: WriteKeys) {
        guard keys.isOpen, let path = settings.keyFile else { return }
        logger.info(
            "There are no write keys, so anyone who can reach the server may send events.",
            metadata: ["file": "\(path)"]
        )
    }
}
