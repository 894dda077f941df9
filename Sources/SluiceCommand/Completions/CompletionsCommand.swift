import ArgumentParser

/// `sluice completions`: prints the completion script of a shell.
struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print the completion script of a shell.",
        discussion: """
            To install the script, write it to where the shell looks for it:

              bash  sluice completions bash > ~/.local/share/bash-completion/completions/sluice
              zsh   sluice completions zsh > _sluice in a folder of $fpath
              fish  sluice completions fish > ~/.config/fish/completions/sluice.fish
            """
    )

    @Argument(help: "The shell.")
    var shell: Shell

    func run() throws {
        try Terminal.write(Array("\(RootCommand.completionScript(for: shell.kind))\n".utf8))
    }

    /// The shells that ArgumentParser has scripts for.
    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish

        var kind: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }
}
