/// Forbids paths of the machine that a file was written on, and of package mirrors.
enum MachinePathRule {
    /// Concatenated, so that this file does not violate its own rule.
    static let forbidden = [
        "/wo" + "rk/", "/ho" + "me/", "/Us" + "ers/", "/ro" + "ot/", "/fa" + "rm/", "/tmp/" + "wt",
        ".lib" + "rary/", "py" + "pi.org", "deb.deb" + "ian.org", "archive.ubu" + "ntu.com",
        "registry." + "npmjs.org", "proxy.go" + "lang.org",
    ]

    static func findings(in file: TextFile) -> [Finding] {
        guard forbidden.contains(where: file.text.containsBytes) else { return [] }
        return file.lines.enumerated().compactMap { index, line in
            guard let word = forbidden.first(where: line.containsBytes) else { return nil }
            return Finding(path: file.path, line: index + 1, sentence: "'\(word)' belongs to one machine")
        }
    }
}
