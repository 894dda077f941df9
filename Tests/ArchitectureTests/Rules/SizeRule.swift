/// One idea a file, and functions that fit on a page.
enum SizeRule {
    static let linesOfFile = 400
    static let linesOfFunction = 60

    static func findings(in file: TextFile, code: [String]) -> [Finding] {
        var findings: [Finding] = []
        let count = file.lines.count - (file.text.hasSuffix("\n") ? 1 : 0)
        if count > linesOfFile {
            findings.append(Finding(path: file.path, line: 0, sentence: "\(count) lines; split it by idea"))
        }
        for function in functions(in: code) where function.count > linesOfFunction {
            let sentence = "a function of \(function.count) lines; cut it into steps with names"
            findings.append(Finding(path: file.path, line: function.lowerBound + 1, sentence: sentence))
        }
        return findings
    }

    /// The lines of each function: from its name to the brace that stands under it, as the formatter puts it.
    static func functions(in code: [String]) -> [Range<Int>] {
        let pattern = /^(\s*)(?:[\w@(),: ]+\s)?(?:func\s|init[?(<]|deinit\s|subscript[(<])/
        return code.indices.compactMap { start in
            guard let match = code[start].firstMatch(of: pattern) else { return nil }
            let closing = match.1 + "}"
            for end in start..<code.count {
                let line = code[end]
                if line.hasPrefix(closing) { return start..<end + 1 }
                // A requirement of a protocol, or a body on the same line.
                if end == start, !line.hasSuffix("{"), !line.hasSuffix("(") { return nil }
            }
            return nil
        }
    }
}
