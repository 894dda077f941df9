import ArgumentParser
import EventModel
import EventValidation
import Loader
import Logging
import Operations
import SluiceKafka
import SluiceSettings
import TrackerKit

/// `sluice forget`: erases the events of a person.
struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Erase the events of a person from PostgreSQL, and keep them from coming back.",
        discussion: """
            Erases the rows of a user id that were received before now, and those without a user of the anonymous ids that were \
            seen with this user alone, from every table of events and from the refused records of 'sluice load'. An anonymous \
            id that was seen with several users is listed, and erased only with --include-shared; rows that name another user \
            never are. It cannot be undone, so use --dry-run first.

            A device is known from the rows. So it waits until the trackers of this machine's journal, and the loader if load.group is \
            set, have loaded what came before, and erases nothing if they do not.

            Writes a receipt to privacy.receiptsFolder: what was erased, what remains elsewhere and until when, and a tombstone, \
            which is a hash of the id under privacy.hashKeyFile. From the receipts, 'sluice serve', 'load' and 'replay' know \
            whose earlier events no tracker gets. Needs the role that owns the tables. If it is interrupted, run it again.

            With --anonymise, it keeps the rows of events without user id, anonymous id, session id, context, and properties that the \
            plan marks as sensitive or does not describe. Later requests do not find these rows.

            With --again, it erases what receipts say, as is needed after a backup was restored; 'sluice check' fails until \
            then. Receipts of --anonymise anonymise again.

            It has nothing to do with 'sluice journal forget', which removes the cursor of a tracker.

            Exits with 0 if everything was erased; 1 if something was not; and 64 for wrong usage.
            """
    )

    /// The maximum number of people in one receipt.
    private static let maximumPeople = 10_000

    @Option(help: ArgumentHelp("The user id of a person; can be repeated.", valueName: "id"))
    var user: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file with one user id per line, which ends with LF or CR LF; - for standard input.",
            valueName: "file"
        ),
        completion: .file()
    )
    var file: String?

    @Flag(help: "Print what would be erased or anonymised, and change nothing.")
    var dryRun = false

    @Flag(help: "Keep the rows without what identifies the person, instead of erasing them.")
    var anonymise = false

    @Flag(help: "Also erase the events without a user of anonymous ids that were seen with several users.")
    var includeShared = false

    @Flag(help: "Erase also if trackers or the loader are behind; events without a user that they load later may stay.")
    var allowLag = false

    @Option(
        help: ArgumentHelp(
            "Erase what a receipt, or each one in a folder, says; can be repeated.",
            valueName: "receipts"
        ),
        completion: .file()
    )
    var again: [String] = []

    @OptionGroup var plan: PlanFolder
    @OptionGroup var trackers: TrackerOptions
    @OptionGroup var journal: JournalOptions

    func validate() throws {
        guard again.isEmpty else {
            guard user.isEmpty, file == nil, !includeShared, !allowLag, !anonymise else {
                throw ValidationError(
                    """
                    --again takes the people, and whether to anonymise, from the receipts, so it excludes --user, --file, \
                    --include-shared, --allow-lag and --anonymise.
                    """
                )
            }
            if again.contains("") { throw ValidationError("--again is empty.") }
            return
        }
        guard !user.isEmpty || file != nil else {
            throw ValidationError("Say whose events to erase, with --user or --file.")
        }
        // An unset variable in a script.
        if user.contains("") { throw ValidationError("--user is empty.") }
        if file?.isEmpty == true { throw ValidationError("--file is empty.") }
    }

    func run() async throws {
        let stated = CommandLineSettings(plan, trackers, journal)
        let settings = try Settings.load(stated, file: plan.config.path, keepsJournal: true, usesRelay: false)
        let relay = try Settings.load(stated, file: plan.config.path, keepsJournal: true).relay
        guard let folder = settings.receiptsFolder else {
            throw Terminal.failure(
                "Receipts need a folder: set privacy.receiptsFolder or SLUICE_PRIVACY_RECEIPTS_FOLDER."
            )
        }
        guard let key = settings.hashKey else {
            throw Terminal.failure("Tombstones need a key: set privacy.hashKeyFile or SLUICE_PRIVACY_HASH_KEY.")
        }
        let wiring = Wiring(
            settings,
            plan: try PlanFolder.plan(at: settings.process.eventsFolder),
            minimumLogLevel: .error
        )
        let configured = wiring.trackers()
        let journalEnd = Remainders.end(ofJournal: settings.journal?.folder)
        let erasing = configured.compactMap { $0 as? any ErasingTracker }
        let catchUp = CatchUp(
            journal: settings.journal?.folder,
            socket: settings.privatePort?.socketPath,
            journalTrackers: relay.map { [$0.name] } ?? erasing.map(\.name),
            loaderStatus: try Self.loaderStatus(settings, wiring, erasing)
        )
        let erasure = Erasure(
            trackers: erasing,
            folder: ReceiptFolder(path: folder),
            key: key,
            plan: wiring.catalog.plan,
            remainders: { requestedAt in
                await Remainders(
                    settings: settings,
                    relay: relay,
                    catalog: wiring.catalog,
                    trackers: configured,
                    requestedAt: requestedAt,
                    journalEnd: journalEnd
                ).all()
            }
        )
        if erasure.trackers.isEmpty {
            Terminal.printError(
                "warning: No tracker is configured from which Sluice can erase; the receipt only has tombstones."
            )
        }
        do {
            try await run(erasure, catchUp)
        } catch let error as ReceiptFolder.Failure {
            throw Terminal.failure("The receipts cannot be used: \(error)")
        } catch {
            throw Terminal.reported(error)
        }
    }

    /// Says how far the loader of these trackers is; `nil` if there is no loader.
    private static func loaderStatus(
        _ settings: Settings,
        _ wiring: Wiring,
        _ trackers: [any ErasingTracker]
    ) throws -> (@Sendable () async -> LoaderStatus)? {
        let loaded = trackers.filter { $0 is any PartitionTracker && wiring.catalog.mask(ofTracker: $0.name) != 0 }
        guard settings.load?.group != nil, !loaded.isEmpty else { return nil }
        let configuration = try LoadOptions.configuration(settings)
        let survey: LoadSurvey
        do throws(TrackerError) {
            survey = try LoadSurvey(configuration, logger: wiring.logger)
        } catch {
            throw Terminal.failure("\(error)")
        }
        return { await survey.status(of: loaded) }
    }

    private func run(_ erasure: Erasure, _ catchUp: CatchUp) async throws {
        guard again.isEmpty else { return try await runAgain(erasure) }
        let users = try users()
        if dryRun {
            let preview = try await erasure.preview(
                users,
                includesShared: includeShared,
                anonymises: anonymise,
                requestedAt: .now()
            )
            try ForgetReport.show(preview, includesShared: includeShared)
            return
        }
        let interrupted = try erasure.interrupted(of: users, among: erasure.folder.read())
        if let interrupted, interrupted.receipt.anonymises, !anonymise {
            // A table may be such that its rows cannot be anonymised. Once they are deleted, the earlier request has nothing left to do.
            try await erase(users, erasure, catchUp, replacing: interrupted)
            _ = try await erasure.apply([interrupted], of: users)
            return
        }
        if let interrupted { try await complete(interrupted, of: users, erasure) }
        // A request for more than the interrupted one is made as well.
        if interrupted.map({ includeShared && !$0.receipt.includesShared }) ?? true {
            try await erase(users, erasure, catchUp)
        }
    }

    /// Completes a request for the same people that was interrupted.
    private func complete(
        _ interrupted: ReceiptFolder.Stored,
        of users: Set<ExactText>,
        _ erasure: Erasure
    ) async throws {
        guard interrupted.receipt.anonymises == anonymise else {
            throw Terminal.failure(
                """
                A request of \(interrupted.receipt.requestedAt) to erase the events of these people was interrupted; complete it first, \
                without --anonymise.
                """
            )
        }
        Terminal.printError("Completing the request of \(interrupted.receipt.requestedAt), which was interrupted.")
        _ = try await erasure.apply([interrupted], of: users)
        try await ForgetReport.show(shared: erasure.sharedDevices(of: [interrupted.receipt]))
        try ForgetReport.show(try ReceiptFolder.read(paths: [interrupted.path])[0].receipt, at: interrupted.path)
    }

    /// Makes a new request, once the destinations have what was received before it.
    private func erase(
        _ users: Set<ExactText>,
        _ erasure: Erasure,
        _ catchUp: CatchUp,
        replacing interrupted: ReceiptFolder.Stored? = nil
    ) async throws {
        let requestedAt = Timestamp.now()
        let delays = allowLag ? [] : try await catchUp.wait()
        guard delays.isEmpty else {
            throw Terminal.failure(
                """
                Nothing was changed, because the rows do not show all devices of these people yet: \(delays.joined(separator: "; ")). \
                Run it again later, or with --allow-lag if events without a user may stay.
                """
            )
        }
        let (receipt, shared) = try await erasure.erase(
            users,
            includesShared: includeShared,
            anonymises: anonymise,
            requestedAt: requestedAt,
            replacing: interrupted
        )
        try ForgetReport.show(shared: shared)
        try ForgetReport.show(receipt, at: "\(erasure.folder.path)/\(receipt.fileName)")
    }

    private func runAgain(_ erasure: Erasure) async throws {
        let receipts = try ReceiptFolder.read(paths: again)
        if let other = receipts.first(where: { !$0.receipt.isMade(with: erasure.key) }) {
            throw ReceiptFolder.Failure(
                description:
                    "'\(other.path)' was made with another key than privacy.hashKeyFile, so no event can be found by it"
            )
        }
        let erased = dryRun ? try await erasure.preview(receipts) : try await erasure.apply(receipts)
        try ForgetReport.show(again: erased, of: receipts.count, isDryRun: dryRun)
    }

    /// The people to erase, each once.
    private func users() throws -> Set<ExactText> {
        var users = user
        if let file {
            do {
                let bytes = try RegularFile.contents(given: file == "-" ? "/dev/stdin" : file)
                // Only LF and CR LF end a line: an id may contain other characters that Unicode counts as line breaks.
                for line in bytes.split(separator: UInt8(ascii: "\n")) {
                    let id = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
                    guard let text = String(validating: id, as: UTF8.self) else {
                        throw Terminal.failure("'\(file)' is not UTF-8.")
                    }
                    if !text.isEmpty { users.append(text) }
                }
            } catch let error as RegularFile.Failure {
                throw Terminal.failure("'\(file)' cannot be read: \(error)")
            }
        }
        guard !users.isEmpty else { throw Terminal.failure("There is no user id in '\(file ?? "")'.") }
        guard users.count <= Self.maximumPeople else {
            throw Terminal.failure("One run erases at most \(Self.maximumPeople) people; split the file.")
        }
        // PostgreSQL's texts cannot have it, so no row has such an id.
        guard !users.contains(where: { $0.utf8.contains(0) }) else { throw Terminal.failure("A user id contains NUL.") }
        if let file, users.dropFirst(user.count).contains(where: { $0.utf8.contains(UInt8(ascii: "\r")) }) {
            throw Terminal.failure("'\(file)' has a CR within a line; end each line with LF or CR LF.")
        }
        return Set(users.map(ExactText.init))
    }
}
