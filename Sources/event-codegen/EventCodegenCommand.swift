public import ArgumentParser
public import EventCodegen
import EventSchema
import Foundation

/// The tool that the plugins run: plan files in, one Swift file out.
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

    @Option(help: "A JSON file with 'accessLevel', 'typePrefix' and 'style'; the options here win.")
    var configurationFile: String?

    @Option(help: "Who can use the types: public, package or internal.")
    var accessLevel: CodegenOptions.AccessLevel?

    @Option(help: "What the names of the types begin with, and the catalog's: Shop makes it .shopEvents.")
    var typePrefix: String?

    @Option(help: "Whose API the types have: sluice or justtrack.")
    var style: CodegenOptions.Style?

    func run() throws {
        let options = try options()
        // One folder has many names, of which the generated code is to know none.
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
            typePrefix: try prefix(stated, style: style),
            style: style
        )
    }

    private func prefix(_ stated: StatedOptions, style: CodegenOptions.Style) throws -> String {
        let prefix = typePrefix ?? stated.typePrefix ?? ""
        guard !prefix.isEmpty else { return "" }
        let place = typePrefix == nil ? configurationFile.map { "\($0):1:1: " } ?? "" : ""
        guard style != .justtrack else {
            throw Self.failure("\(place)error: the style 'justtrack' has no type prefix; remove '\(prefix)'")
        }
        guard SwiftName.isIdentifier(prefix) else {
            throw Self.failure("\(place)error: the type prefix '\(prefix)' is no name that Swift takes")
        }
        return prefix
    }

    private static func wholePath(_ path: String) -> String {
        URL(fileURLWithPath: path).standardizedFileURL.path
    }

    /// Says what is wrong, and how the tool ends then.
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
