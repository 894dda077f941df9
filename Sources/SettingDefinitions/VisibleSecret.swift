/// A secret among the arguments of a command, which every user of the machine can see.
///
/// It is a guess from the names of options and from the form of URLs.
package enum VisibleSecret {
    /// The position of the first argument that seems to be a secret, or to have one in it.
    package static func position(in command: [String]) -> Int? { positions(in: command).first }

    /// The command with the arguments that seem to be secret replaced.
    package static func redacted(_ command: [String]) -> [String] {
        var command = command
        for position in positions(in: command) { command[position] = SettingKey.mask }
        return command
    }

    private static func positions(in command: [String]) -> [Int] {
        command.indices.dropFirst().filter { position in
            let argument = command[position]
            if argument.contains(/:\/\/[^\/@\s]*:[^\/@\s]+@/.matchingSemantics(.unicodeScalar)) { return true }
            let entry = SettingEntry(argument)
            if let value = entry.value { return isSecret(entry.name) && !value.isEmpty }
            // `--token VALUE`, where the secret is the value.
            return position > 1 && command[position - 1].hasPrefix("-") && isSecret(command[position - 1])
                && !argument.hasPrefix("-")
        }
    }

    /// Whether an option or a variable of this name has a secret as its value, and not the path of a file.
    private static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.contains(/password|passwd|secret|token|api[-_]?key|credential/)
            && !name.contains(/(file|path|name|url|id)$/)
    }
}
