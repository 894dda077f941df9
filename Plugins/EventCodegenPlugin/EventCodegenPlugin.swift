import Foundation
import PackagePlugin

/// Turns the plan files of a target into Swift, each time one of them changes.
///
/// The plan files are the target's property lists, except for `Info.plist` and `…-Info.plist`, excluded files and a
/// package's resources. An `event-codegen.json` in the target has the options.
@main
struct EventCodegenPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        return try commands(
            files: target.sourceFiles.filter { $0.type != .resource }.map(\.url),
            root: target.directoryURL,
            outputFolder: context.pluginWorkDirectoryURL,
            tool: context.tool(named: "event-codegen").url,
            target: target.name
        )
    }

    private func commands(
        files: [URL],
        root: URL,
        outputFolder: URL,
        tool: URL,
        target: String
    ) throws -> [Command] {
        let plans = files.filter(isPlan).sorted { $0.path < $1.path }
        if let problem = problem(of: target, plans: plans, files: files) {
            Diagnostics.error(problem)
            return []
        }
        let output = outputFolder.appendingPathComponent("GeneratedEvents.swift")
        var arguments = ["--root", root.path, "--output", output.path, "--target", target]
        let options = files.filter { $0.lastPathComponent == "event-codegen.json" }
        if let first = options.first { arguments += ["--configuration-file", first.path] }
        return [
            .buildCommand(
                displayName: "Turning the plan of \(target) into Swift",
                executable: tool,
                arguments: arguments + plans.map(\.path),
                inputFiles: plans + options,
                outputFiles: [output]
            )
        ]
    }

    private func problem(of target: String, plans: [URL], files: [URL]) -> String? {
        if plans.isEmpty {
            return """
                The target '\(target)' has no plan file: add a .plist with 'events' that is not a resource, \
                or remove the plugin.
                """
        }
        if files.count(where: { $0.lastPathComponent == "event-codegen.json" }) > 1 {
            return "The target '\(target)' has more than one event-codegen.json; keep one."
        }
        return files.first { $0.lastPathComponent == "GeneratedEvents.swift" }.map { file in
            "The target '\(target)' has its events twice: remove \(file.path), which generate-events wrote, or the plugin."
        }
    }

    private func isPlan(_ file: URL) -> Bool {
        let name = file.lastPathComponent
        return file.pathExtension == "plist" && name != "Info.plist" && !name.hasSuffix("-Info.plist")
    }
}

#if canImport(XcodeProjectPlugin)
import XcodeProjectPlugin

extension EventCodegenPlugin: XcodeBuildToolPlugin {
    func createBuildCommands(context: XcodePluginContext, target: XcodeTarget) throws -> [Command] {
        try commands(
            // Xcode treats every property list of a target as a resource, so resources are not excluded.
            files: target.inputFiles.map(\.url),
            root: context.xcodeProject.directoryURL,
            outputFolder: context.pluginWorkDirectoryURL,
            tool: context.tool(named: "event-codegen").url,
            target: target.displayName
        )
    }
}
#endif
