/// Requires that scripts stop at the first error.
enum ScriptRule {
    static func isScript(_ file: TextFile) -> Bool {
        file.path.hasSuffix(".sh") || file.text.hasPrefix("#!") && file.text.prefix(40).contains("sh\n")
    }

    static func findings(in file: TextFile) -> [Finding] {
        guard isScript(file) else { return [] }
        guard file.lines.first == "#!/usr/bin/env bash" else {
            return [Finding(path: file.path, line: 1, sentence: "begin with #!/usr/bin/env bash")]
        }
        let first = file.lines.firstIndex { !$0.isEmpty && !$0.hasPrefix("#") }
        guard let first, file.lines[first] == "set -euo pipefail" else {
            return [Finding(path: file.path, line: (first ?? 0) + 1, sentence: "begin with set -euo pipefail")]
        }
        return []
    }
}
