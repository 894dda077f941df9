/// Requires that the links of a document lead to files and headings that exist.
enum LinkRule {
    /// The links of a document that have no target, relative to the document's folder.
    ///
    /// `documents` are the texts of all documents, by their paths from the project's root, and `exists` says whether there is a file or a
    /// folder at such a path.
    static func findings(
        in document: TextFile,
        documents: [String: String],
        exists: (String) -> Bool
    ) -> [Finding] {
        var findings: [Finding] = []
        for (index, line) in document.lines.enumerated() where line.containsBytes("](") {
            for match in line.matches(of: /\]\(([^)#\s]*)(?:#([^)\s]*))?\)/) {
                let (_, file, anchor) = match.output
                if file.contains("://") || (file.isEmpty && anchor == nil) { continue }
                let path = Self.path(of: file, in: document)
                if !exists(path) {
                    let sentence = "there is no file '\(file)'"
                    findings.append(Finding(path: document.path, line: index + 1, sentence: sentence))
                } else if let anchor, let text = documents[path], !anchors(in: text).contains(String(anchor)) {
                    let sentence = "\(path) has no heading '#\(anchor)'"
                    findings.append(Finding(path: document.path, line: index + 1, sentence: sentence))
                }
            }
        }
        return findings
    }

    /// The path of a link's file from the project's root; that of the document if the link has only an anchor.
    private static func path(of file: Substring, in document: TextFile) -> String {
        if file.isEmpty { return document.path }
        var components = Array(document.components.dropLast())
        for component in file.split(separator: "/") where component != "." {
            if component == ".." {
                _ = components.popLast()
            } else {
                components.append(component)
            }
        }
        return components.joined(separator: "/")
    }

    /// The anchors that GitHub makes from the headings of a document.
    private static func anchors(in text: String) -> Set<String> {
        var anchors: Set<String> = []
        var counts: [String: Int] = [:]
        var isCode = false
        for line in text.split(separator: "\n") {
            if line.drop(while: { $0 == " " }).hasPrefix("```") { isCode.toggle() }
            guard !isCode, let heading = line.firstMatch(of: /^#{1,6} +(.+)$/)?.output.1 else { continue }
            // Punctuation is removed, and a second heading of the same words gets a number.
            let words = heading.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
            let anchor = words.replacing(" ", with: "-")
            let count = counts[anchor, default: 0]
            counts[anchor] = count + 1
            anchors.insert(count == 0 ? anchor : "\(anchor)-\(count)")
        }
        return anchors
    }
}
