import Foundation
import ServerTestSupport

/// A page of the documentation, and the blocks of code in it.
struct MarkdownPage {
    /// The text between two lines of three backticks.
    struct Block {
        /// The word after the backticks; empty for the output of a command.
        let language: String
        /// The lines, each with its newline.
        let text: String
    }

    let blocks: [Block]

    init(_ text: String) {
        var blocks: [Block] = []
        var open: (language: String, indentation: Int, lines: [Substring])?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let indentation = line.prefix { $0 == " " }.count
            let content = line.dropFirst(indentation)
            if let block = open, content == "```" {
                blocks.append(Block(language: block.language, text: block.lines.map { $0 + "\n" }.joined()))
                open = nil
            } else if let block = open {
                open?.lines.append(line.dropFirst(min(indentation, block.indentation)))
            } else if content.hasPrefix("```") {
                open = (String(content.dropFirst(3)), indentation, [])
            }
        }
        self.blocks = blocks
    }

    init(path: String) throws {
        self.init(try RepositoryFile.text(path))
    }

    /// The texts of the blocks of one language.
    func texts(_ language: String) -> [String] {
        blocks.filter { $0.language == language }.map(\.text)
    }
}
