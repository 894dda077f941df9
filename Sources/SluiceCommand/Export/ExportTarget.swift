import ArgumentParser
import Foundation
import PlanTools
import SystemPackage

/// The file that an export writes, or standard output.
struct ExportTarget: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file to write. Default: standard output.", valueName: "file"),
        completion: .file()
    )
    var output: String?

    func validate() throws {
        try Self.validate(output)
    }

    /// Refuses an empty name: an unset variable in a script must not select standard output.
    static func validate(_ output: String?) throws {
        if output?.isEmpty == true { throw ValidationError("--output has an empty name.") }
    }

    func write(_ text: String) throws {
        guard let output else { return try Terminal.write(text.utf8) }
        try FileTransaction.run { try $0.replace(output, text.utf8) }
    }
}

/// The folder that an export of several files writes to.
struct ExportFolder {
    let path: String

    /// Writes all files or none, and warns of schemas in the folder that belong to no event any more.
    func write(_ files: [ExportedFile]) throws {
        let paths = files.map { path + "/" + $0.path }
        try FileTransaction.run { transaction in
            for folder in Set(paths.map { FilePath($0).removingLastComponent().string }).sorted() {
                try transaction.createFolder(folder)
            }
            for (path, file) in zip(paths, files) { try transaction.replaceRegular(path, file.text.utf8) }
        }
        reportLeftovers(besides: Set(paths))
    }

    private func reportLeftovers(besides written: Set<String>) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path + "/events")) ?? []
        for name in names.sorted() where name.hasSuffix(".schema.json") {
            let file = path + "/events/" + name
            if !written.contains(file) { Terminal.printError("warning: '\(file)' belongs to no event of the plan") }
        }
    }
}
