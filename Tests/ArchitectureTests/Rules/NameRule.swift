/// Forbids names of files, folders and types that do not say what these are.
enum NameRule {
    static let empty = ["Utilities", "Utils", "Util", "Helpers", "Helper", "Common", "Misc", "Manager"]

    static func findings(in file: TextFile, code: [String]) -> [Finding] {
        var findings: [Finding] = []
        for component in file.components {
            let name = component.prefix { $0 != "." && $0 != "+" }
            if let word = empty.first(where: { name.hasSuffix($0) }) {
                findings.append(finding(word, path: file.path, line: 0))
            }
        }
        let declaration = /\b(?:class|struct|enum|protocol|actor)\s+(\w+)/
        for (index, line) in code.enumerated() {
            guard empty.contains(where: line.containsBytes), let name = line.firstMatch(of: declaration)?.1,
                let word = empty.first(where: { name.hasSuffix($0) })
            else { continue }
            findings.append(finding(word, path: file.path, line: index + 1))
        }
        return findings
    }

    private static func finding(_ word: String, path: String, line: Int) -> Finding {
        Finding(path: path, line: line, sentence: "'\(word)' says nothing; name the thing")
    }
}
