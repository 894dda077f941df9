import Foundation
import PackagePlugin

/// `swift package generate-events`: the same Swift as the build plugin's, written next to the plan files, to be committed.
///
/// `--target NAME` selects one target; all other options are passed on to `event-codegen`.
@main
struct GenerateEventsPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        let names = extractor.extractOption(named: "target")
        let targets =
            names.isEmpty
            ? context.package.targets : try context.package.targets(named: names)
        let tool = try context.tool(named: "event-codegen").url
        var generated = 0
        for target in targets.compactMap({ $0 as? any SourceModuleTarget }) {
            let files = target.sourceFiles.filter { $0.type != .resource }.map(\.url)
            let plans = files.filter(isPlan).sorted { $0.path < $1.path }
            guard !plans.isEmpty else { continue }
            let output = target.directoryURL.appendingPathComponent("GeneratedEvents.swift")
            var options = ["--root", target.directoryURL.path, "--output", output.path]
            options += ["--target", target.name]
            let stated = files.filter { $0.lastPathComponent == "event-codegen.json" }
            guard stated.count <= 1 else {
                throw GenerationError(
                    description: "The target '\(target.name)' has more than one event-codegen.json; keep one."
                )
            }
            if let first = stated.first { options += ["--configuration-file", first.path] }
            try run(tool, options + extractor.remainingArguments + plans.map(\.path))
            print("\(target.name): \(output.path)")
            generated += 1
        }
        if generated == 0 { throw GenerationError(description: "No target has a plan file.") }
    }

    /// The same files as the build plugin's.
    private func isPlan(_ file: URL) -> Bool {
        let name = file.lastPathComponent
        return file.pathExtension == "plist" && name != "Info.plist" && !name.hasSuffix("-Info.plist")
    }

    private func run(_ tool: URL, _ arguments: [String]) throws {
        let process = try Process.run(tool, arguments: arguments)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw GenerationError(description: "event-codegen ended with \(process.terminationStatus).")
        }
    }
}

/// Why nothing was generated.
struct GenerationError: Error, CustomStringConvertible {
    let description: String
}
