import ArgumentParser
import EventSchema

/// Suggestions for unknown words on the command line.
enum UsageHint {
    /// The message with a suggestion for a misspelled subcommand, and without one for an option that is not close.
    static func improved(_ message: String, arguments: [String]) -> String {
        var message = message
        // The parser suggests the nearest option even if it shares hardly a letter.
        if let match = message.firstMatch(of: /'-*([^']+)'(\. Did you mean '-*([^']+)'\?)/),
            Spelling.nearest(to: String(match.1), among: [String(match.3)]) == nil
        {
            message.removeSubrange(match.2.startIndex..<match.2.endIndex)
        }
        guard let subcommand = subcommand(meantBy: arguments) else { return message }
        return message.replacing(/(Unexpected argument '[^'\n]+')/, maxReplacements: 1) {
            "\($0.1). Did you mean '\(subcommand)'?"
        }
    }

    /// The subcommand most similar to the first unknown word; `nil` if there is no such word, or none is similar.
    private static func subcommand(meantBy arguments: [String]) -> String? {
        var command: any ParsableCommand.Type = RootCommand.self
        for argument in arguments {
            let children = command.configuration.subcommands
            if let child = children.first(where: { $0._commandName == argument }) {
                command = child
                continue
            }
            guard !children.isEmpty, !argument.hasPrefix("-") else { return nil }
            // Of those that are equally close, one with the same letters comes first.
            let letters = argument.lowercased().sorted()
            let names = children.map { $0._commandName }
            return Spelling.nearest(
                to: argument,
                among: names.filter { $0.sorted() == letters } + names.filter { $0.sorted() != letters }
            )
        }
        return nil
    }
}
