import EventModel
import SettingDefinitions
import TrackerKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A program with its arguments, its environment and its directory, found and read anew for each start.
struct ProgramDescription {
    let path: String
    let arguments: [String]
    /// Each as `NAME=value`.
    let environment: [String]
    let directory: String?

    /// Finds the program, and reads the files with environment variables.
    ///
    /// - Throws: `notPrepared` if a file or the directory is missing.
    init(_ configuration: ExecConfiguration) throws(TrackerError) {
        let variables = try Self.variables(configuration)
        guard let name = configuration.command.first else { throw ExecErrors.invalidSettings("The command is empty.") }
        if let directory = configuration.workingDirectory, access(directory, X_OK) != 0 {
            throw ExecErrors.notPrepared(
                "The directory '\(directory)' cannot be used: \(ExecErrors.text(of: errno)); make it, or let the process enter it."
            )
        }
        path = try Self.path(of: name, in: variables["PATH"] ?? "")
        arguments = configuration.command
        environment = variables.map { "\($0)=\($1)" }.sorted()
        directory = configuration.workingDirectory
    }

    /// Checks that the program can be started, without starting it.
    ///
    /// - Throws: `notPrepared` if it is missing or cannot be executed.
    func checkProgram() throws(TrackerError) {
        // A relative path is one in the program's directory.
        let place = directory.map { path.hasPrefix("/") ? path : "\($0)/\(path)" } ?? path
        let number = access(place, X_OK) == 0 ? 0 : errno
        if number != 0 { throw ExecErrors.cannotStart(arguments.first ?? "", number) }
    }

    /// What is wrong with an entry of `environment`; `nil` if nothing is.
    static func problem(ofVariable entry: String) -> String? {
        let name = SettingEntry(entry).name
        return isName(name) ? nil : "'\(name)' is not a valid name of an environment variable"
    }

    /// What is wrong with an entry of `environmentFiles`; `nil` if nothing is.
    static func problem(ofFile entry: String) -> String? {
        let entry = SettingEntry(entry)
        return isName(entry.name) && entry.value?.isEmpty == false
            ? nil : "'\(entry.name)' is not of the form NAME=path"
    }

    /// Checks what needs no file.
    ///
    /// - Throws: `invalidSettings`.
    static func check(_ configuration: ExecConfiguration) throws(TrackerError) {
        guard configuration.command.first?.isEmpty == false else {
            throw ExecErrors.invalidSettings("The command is empty; it is a list of the program and its arguments.")
        }
        let texts = configuration.command + configuration.environment + configuration.environmentFiles
        guard texts.allSatisfy({ !$0.utf8.contains(0) }) else {
            throw ExecErrors.invalidSettings("The command and its environment cannot contain NUL characters.")
        }
        let problems =
            configuration.environment.compactMap(problem(ofVariable:))
            + configuration.environmentFiles.compactMap(problem(ofFile:))
        if let problem = problems.first { throw ExecErrors.invalidSettings("\(problem).") }
    }

    // MARK: Environment

    private static func variables(_ configuration: ExecConfiguration) throws(TrackerError) -> [String: String] {
        var variables = ["PATH": "/usr/local/bin:/usr/bin:/bin", "SLUICE_TRACKER": configuration.name]
        for entry in ["PATH", "HOME", "LANG", "TZ"] + configuration.environment {
            let entry = SettingEntry(entry)
            if let value = entry.value ?? getenv(entry.name).map({ String(cString: $0) }) {
                variables[entry.name] = value
            }
        }
        for entry in configuration.environmentFiles {
            let entry = SettingEntry(entry)
            guard let file = entry.value else { continue }
            let bytes: [UInt8]
            do { bytes = try SecretFile.currentContents(of: file) } catch { throw ExecErrors.notPrepared("\(error)") }
            guard !bytes.contains(0), let value = String(validating: bytes, as: UTF8.self) else {
                throw ExecErrors.notPrepared(
                    "The file '\(file)' is not text in UTF-8, or has a NUL character; correct it."
                )
            }
            variables[entry.name] = value
        }
        return variables
    }

    private static func isName(_ name: String) -> Bool {
        name.utf8.first.map { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
            && name.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            }
    }

    // MARK: Path

    private static func path(of name: String, in folders: String) throws(TrackerError) -> String {
        if name.utf8.contains(UInt8(ascii: "/")) { return name }
        for folder in folders.utf8.split(separator: UInt8(ascii: ":")).map({ Substring($0) }) {
            let path = "\(folder)/\(name)"
            if access(path, X_OK) == 0 { return path }
        }
        throw ExecErrors.notPrepared("The program '\(name)' was not found in PATH; install it, or state its path.")
    }
}
