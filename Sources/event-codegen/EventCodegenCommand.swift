import ArgumentParser
public import EventCodegen
import EventSchema
import Foundation
import PlanReading

/// The tool that the plugins run: it turns plan files into one Swift file.
@main
struct EventCodegenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "event-codegen",
        abstract: "Turn a tracking plan into Swift.",
        discussion: """
            Problems are printed as 'path:line:column: error|warning: sentence [code]'. Exits with 0 when the file was \
            written or is as it should be, 1 when the plan has errors or the file cannot be written.
            """
    )

    @Argument(help: "Plan files, and folders whose *.plist files belong to the plan.")
    var paths: [String]

    @Option(help: "The Swift file to write, anew or over a generated one; it is left alone when nothing changes.")
    var output: String

    @Option(help: "A folder; the generated code names the plan's files from there.")
    var root: String?

    @Option(help: "A JSON file with 'accessLevel', 'namespace', 'style' and 'library'; the options here win.")
    var configurationFile: String?

    @Option(help: "Who can use the types: public, package or internal.")
    var accessLevel: CodegenOptions.AccessLevel?

    @Option(help: "The enum that holds the types and the catalog. Default: the target's name and 'Events'.")
    var namespace: String?

    @Option(help: "The target that the generated code belongs to.")
    var target: String?

    @Option(help: "Whose API the types have: sluice or justtrack.")
    var style: CodegenOptions.Style?

    @Option(help: "The library that the types are for: Sluice or SluiceClient.")
    var library: CodegenOptions.Library?

    func run() throws {
        let options = try options()
        // A folder has many paths; the generated code must not depend on which one is used.
        let root = root.map(Self.wholePath)
        let reading = PlanReader().read(paths: root == nil ? paths : paths.map(Self.wholePath))
        for diagnostic in reading.diagnostics { Self.printError("\(diagnostic)") }
        guard let plan = reading.plan else { throw ExitCode(1) }
        let (text, diagnostics) = SwiftGenerator(options: options, root: root).generate(plan)
        for diagnostic in diagnostics { Self.printError("\(diagnostic)") }
        guard let text else { throw ExitCode(1) }
        do throws(GeneratedFile.Problem) {
            try GeneratedFile(path: output).write(text)
        } catch {
            throw Self.failure("error: \(error.sentence)")
        }
    }

    private func options() throws -> CodegenOptions {
        var stated = StatedOptions()
        if let configurationFile {
            do throws(StatedOptions.Problem) {
                stated = try StatedOptions(file: configurationFile)
            } catch {
                throw Self.failure("\(configurationFile):1:1: error: \(error.sentence)")
            }
        }
        let style = style ?? stated.style ?? .sluice
        return CodegenOptions(
            accessLevel: accessLevel ?? stated.accessLevel,
            namespace: try namespace(stated, style: style),
            style: style,
            library: library ?? stated.library ?? .sluice
        )
    }

    private func namespace(_ stated: StatedOptions, style: CodegenOptions.Style) throws -> String {
        guard let name = namespace ?? stated.namespace else {
            return target.map(CodegenOptions.namespace(ofTarget:)) ?? CodegenOptions().namespace
        }
        let place = namespace == nil ? configurationFile.map { "\($0):1:1: " } ?? "" : ""
        guard style != .justtrack else {
            throw Self.failure("\(place)error: the style 'justtrack' has no namespace; remove '\(name)'")
        }
        guard SwiftName.isIdentifier(name), SwiftName.escaped(name) == name else {
            throw Self.failure("\(place)error: the namespace '\(name)' is not a valid Swift identifier")
        }
        guard !["Swift", "Sluice", "SluiceClient", target].contains(name) else {
            throw Self.failure("\(place)error: the namespace '\(name)' would hide the module of that name")
        }
        return name
    }

    private static func wholePath(_ path: String) -> String {
        URL(fileURLWithPath: path).standardizedFileURL.path
    }

    /// Prints a problem, and returns the exit code for it.
    private static func failure(_ line: String) -> ExitCode {
        printError(line)
        return ExitCode(1)
    }

    private static func printError(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }
}

extension CodegenOptions.AccessLevel: ExpressibleByArgument {}
extension CodegenOptions.Style: ExpressibleByArgument {}
extension CodegenOptions.Library: ExpressibleByArgument {}
