package import SettingDefinitions
package import TrackerKit

extension ExecConfiguration: Configurable {
    package static var defaults: ExecConfiguration { ExecConfiguration(command: []) }
}

extension SettingKey {
    fileprivate static let execCommand = SettingKey(
        "exec.command",
        .list,
        """
        The program that delivers the events, and its arguments; in the environment variable, separate them with semicolons. A program \
        without a slash is searched for in PATH. Arguments are not secret: other users of the machine can see them.
        """,
        default: .none,
        secrecy: .partlySecretList(VisibleSecret.redacted),
        scope: .tracker(type: ExecTracker.type)
    )
    fileprivate static let execEnvironment = SettingKey(
        "exec.environment",
        .list,
        """
        The program's environment variables beside PATH, HOME, LANG, TZ and SLUICE_TRACKER, each as NAME=value, or as NAME for the \
        value that this process has.
        """,
        default: .none,
        secrecy: .partlySecret(ExecTracker.redacted),
        scope: .tracker(type: ExecTracker.type)
    )
    fileprivate static let execEnvironmentFiles = SettingKey(
        "exec.environmentFiles",
        .list,
        """
        Environment variables whose values are secret, each as NAME=path of a file with the value; the files are read whenever the \
        program is started.
        """,
        default: .none,
        scope: .tracker(type: ExecTracker.type)
    )
    fileprivate static let execDirectory = SettingKey(
        "exec.workingDirectory",
        .text,
        "The program's working directory.",
        default: .words("that of this process"),
        scope: .tracker(type: ExecTracker.type)
    )
}

extension ExecTracker: ConfigurableTracker {
    package static let type = ExecConfiguration.defaultName
    private static let `protocol` = Setting<ExecConfiguration>.choice(
        "exec.protocol",
        \.protocol,
        scope: .tracker(type: type),
        """
        How Sluice and the program talk to each other: lines (the program is started once and answers each delivery), or singer (it \
        is a target of Singer, and run for each delivery). With singer, the defaults of delivery.maximumEvents, \
        delivery.lingerMilliseconds and exec.timeouts.deliverySeconds are 100000, 30000 and 900.
        """
    )
    private static let decimals = Setting<ExecConfiguration>.choice(
        "exec.singer.decimals",
        \.decimals,
        scope: .tracker(type: type),
        """
        How a Singer target gets decimals: strings (with all digits and the format x-singer.decimal), or numbers (with multipleOf; \
        events whose decimals have too many digits for that are refused).
        """
    )
    package static let settings: [Setting<ExecConfiguration>] = [
        Setting(.execCommand) { values, exec in exec.command = values.texts(.execCommand) ?? [] },
        `protocol`,
        decimals,
        Setting(.execEnvironment) { values, exec in exec.environment = values.texts(.execEnvironment) ?? [] },
        Setting(.execEnvironmentFiles) { values, exec in
            exec.environmentFiles = values.texts(.execEnvironmentFiles) ?? []
        },
        Setting(.execDirectory) { values, exec in exec.workingDirectory = values.text(.execDirectory) },
        .duration(
            "exec.timeouts.deliverySeconds",
            \.timeout,
            within: 1...86_400,
            scope: .tracker(type: type),
            "How long the program may take for a delivery, in seconds."
        ),
        .duration(
            "exec.timeouts.graceSeconds",
            \.grace,
            within: 0...30,
            scope: .tracker(type: type),
            "How long the program may take to end after SIGTERM, in seconds, before it and the processes of its group get SIGKILL."
        ),
    ]
    package static let requiresOneOf: [SettingKey] = [.execCommand]
    package static let example = (
        name: "crm", values: [SettingKey.execCommand: "[/usr/local/bin/to-crm, --region, eu]"]
    )

    package static func configuration(named name: String, from values: any SettingValues) -> ExecConfiguration? {
        var exec = ExecConfiguration.reading(settings, from: values)
        guard let command = values.texts(.execCommand), !note(problemsOf: exec, command, in: values) else { return nil }
        exec.name = name
        if let position = VisibleSecret.position(in: exec.command) {
            let sentence = """
                argument \(position) seems to be a secret, which other users of the machine can see; pass it in a file or with \
                environmentFiles
                """
            values.note(.execCommand, sentence, as: .visibleSecret)
        }
        return exec
    }

    /// Notes what is wrong with the command and its environment; returns whether anything is.
    private static func note(
        problemsOf exec: ExecConfiguration,
        _ command: [String],
        in values: any SettingValues
    ) -> Bool {
        let variables = exec.environment.compactMap(ProgramDescription.problem(ofVariable:))
        let files = exec.environmentFiles.compactMap(ProgramDescription.problem(ofFile:))
        let hasProgram = command.first?.isEmpty == false
        // An invalid protocol is a problem of its own.
        let isLines = (values.text(`protocol`.key) ?? ExecProtocol.lines.rawValue) == ExecProtocol.lines.rawValue
        let hasUnusedDecimals = isLines && exec.decimals != ExecConfiguration.defaults.decimals
        for problem in variables { values.note(.execEnvironment, problem) }
        for problem in files { values.note(.execEnvironmentFiles, problem) }
        if !hasProgram { values.note(.execCommand, "expected a program and its arguments") }
        if hasUnusedDecimals {
            let name = values.name(of: `protocol`.key)
            let sentence = "only Singer targets use it; set \(name) to singer, or remove this"
            values.note(decimals.key, sentence, as: .conflictingSettings)
        }
        return !(variables.isEmpty && files.isEmpty && hasProgram) || hasUnusedDecimals
    }

    package static func deliveryLimits(of configuration: ExecConfiguration) -> DeliveryLimits? {
        configuration.protocol == .singer ? SingerSession.deliveryLimits : nil
    }

    package static func tracker(_ configuration: ExecConfiguration, in context: TrackerContext) -> any Tracker {
        ExecTracker(configuration, logger: context.logger)
    }

    /// An entry of `environment` without its value.
    fileprivate static func redacted(_ entry: String) -> String {
        let parts = SettingEntry(entry)
        return parts.value == nil ? entry : "\(parts.name)=\(SettingKey.mask)"
    }
}
