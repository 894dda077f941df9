import Foundation

/// A page of the documentation, and the blocks of code in it.
struct MarkdownPage {
    /// What stands between two lines of three backticks.
    struct Block {
        /// The word after the backticks; empty where there is none, as with what a command prints.
        let language: String
        /// Its lines, each with its newline.
        let text: String
    }

    let blocks: [Block]

    init(_ text: String) {
        var blocks: [Block] = []
        var open: (language: String, lines: [Substring])?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let block = open, line == "```" {
                blocks.append(Block(language: block.language, text: block.lines.map { $0 + "\n" }.joined()))
                open = nil
            } else if open != nil {
                open?.lines.append(line)
            } else if line.hasPrefix("```") {
                open = (String(line.dropFirst(3)), [])
            }
        }
        self.blocks = blocks
    }

    init(path: String) throws {
        self.init(try String(contentsOf: RepositoryFile.url(path), encoding: .utf8))
    }

    /// The texts of the blocks of one language.
    func texts(_ language: String) -> [String] {
        blocks.filter { $0.language == language }.map(\.text)
    }
}
