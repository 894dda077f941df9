import ArgumentParser

/// The file that an export goes to.
struct ExportTarget: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file to write; else standard output.", valueName: "file"),
        completion: .file()
    )
    var output: String?

    func validate() throws {
        try ExportOutput.validate(output)
    }

    func write(_ text: String) throws {
        guard let output else { return try Terminal.write(text.utf8) }
        try ExportOutput.write(text, to: output)
    }
}
