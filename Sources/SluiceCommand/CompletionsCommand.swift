import ArgumentParser

/// `sluice completions`: what a shell needs to complete our commands and options.
struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions",
        abstract: "Print the completion script for a shell.",
        discussion: """
            To install it, write it where the shell looks:

              bash  sluice completions bash > ~/.local/share/bash-completion/completions/sluice
              zsh   sluice completions zsh > a folder of $fpath, as _sluice
              fish  sluice completions fish > ~/.config/fish/completions/sluice.fish
            """
    )

    @Argument(help: "The shell.")
    var shell: Shell

    func run() throws {
        try Terminal.write(Array("\(RootCommand.completionScript(for: shell.kind))\n".utf8))
    }

    /// The shells there are scripts for.
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
