/// Requires that messages of the log are constants, so that they can be searched for; names and figures belong in the metadata.
enum LogMessageRule {
    /// It hands texts to the app's closure, which knows no metadata.
    private static let exceptions = ["Sources/JustTrack/"]

    static func findings(in file: TextFile) -> [Finding] {
        guard file.path.hasPrefix("Sources/"), !exceptions.contains(where: file.path.hasPrefix),
            file.text.containsBytes("logger.")
        else { return [] }
        let pattern =
            #/
            logger\.(?:trace|debug|info|notice|warning|error|critical|log)\(
            \s*(?:level:\ \w+,\s*)?
            "[^"\n]*\\\(
            /#
        return file.text.matches(of: pattern).map { match in
            let line = file.text[..<match.range.lowerBound].count { $0 == "\n" } + 1
            return Finding(path: file.path, line: line, sentence: "no value in a log message: put it in the metadata")
        }
    }
}
