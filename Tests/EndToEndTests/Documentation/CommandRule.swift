/// Finds commands in a document that do not exist.
struct CommandRule {
    /// The targets of the Makefile.
    let targets: Set<String>
    /// The subcommands of `sluice`.
    let subcommands: Set<String>
    /// The options of all subcommands.
    let options: Set<String>

    /// The commands, options and targets in a text that do not exist, each with its line number.
    func unknown(in text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { index, line in
            unknown(inLine: line).map { "\(index + 1): \($0)" }
        }
    }

    private func unknown(inLine line: Substring) -> [String] {
        // Commands are at the start of a line, or quoted in a sentence.
        let make = line.matches(of: /(?:^|`)\s*make ([a-z][a-z-]*)/).map { String($0.1) }
        let sluice = line.matches(of: /(?:^|`|\/)\s*sluice +([a-z][a-z-]*)/).map { String($0.1) }
        let option = line.matches(of: /(?:^|[\s`(])(--[a-z][a-z-]*)/).map { String($0.1) }
        return make.filter { !targets.contains($0) }.map { "make \($0)" }
            + sluice.filter { !subcommands.contains($0) }.map { "sluice \($0)" }
            + (line.contains("curl") || line.contains("swift ") || line.contains("docker ")
                ? [] : option.filter { !options.contains($0) })
    }

    /// The targets that a Makefile has a recipe for.
    static func targets(ofMakefile text: String) -> Set<String> {
        Set(text.split(separator: "\n").compactMap { $0.firstMatch(of: /^([a-z][a-z-]*):/).map { String($0.1) } })
    }

    /// The subcommands that `sluice --help` lists.
    static func subcommands(ofHelp text: String) -> Set<String> {
        let lines = text.split(separator: "\n").drop { !$0.hasPrefix("SUBCOMMANDS") }
        return Set(lines.compactMap { $0.firstMatch(of: /^  ([a-z][a-z-]*)(?:\s|$)/).map { String($0.1) } })
    }

    /// The options that the help of a subcommand lists.
    static func options(ofHelp text: String) -> Set<String> {
        Set(text.matches(of: /--[a-z][a-z-]*/).map { String($0.0) })
    }
}
