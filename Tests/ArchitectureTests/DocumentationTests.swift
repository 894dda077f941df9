import Foundation
import Testing

/// Everything that the documents refer to exists: files, tests and modules.
@Suite struct DocumentationTests {
    @Test("every module that others can import has a page, which `make docs` builds")
    func pages() throws {
        let libraries = try Repository.text(of: "Package.swift").split(separator: "The products before version 0.1")[0]
            .matches(of: /\.library\(name: "(\w+)"/).map(\.1)
        #expect(libraries.count >= 7)
        for name in libraries {
            let page = try Repository.text(of: "Sources/\(name)/\(name).docc/\(name).md")
            #expect(page.hasPrefix("# ``\(name)``\n") && page.contains("\n## Topics\n"), "\(name)")
        }
    }

    @Test("every link to a file in the documents has a target")
    func links() {
        let documents = Repository.files.filter { $0.path.hasSuffix(".md") && !$0.path.contains(".docc/") }
        #expect(documents.count >= 10)
        for document in documents {
            let folder = Repository.root.appendingPathComponent(document.path).deletingLastPathComponent()
            for match in document.text.matches(of: /\]\(([^)#\s]+)(?:#[^)]*)?\)/) where !match.1.contains("://") {
                let exists = FileManager.default.fileExists(atPath: folder.appendingPathComponent(String(match.1)).path)
                #expect(exists, "\(document.path) links to \(match.1)")
            }
        }
    }

    @Test("every test that the page of promises names exists")
    func promises() throws {
        let tests = Repository.swiftFiles(in: "Tests").map(\.text).joined()
        let names = try Self.namesOfTests(in: Repository.text(of: "Documentation/Trust/Promises.md"))
        #expect(names.count > 30)
        let missing = names.filter { !tests.containsBytes("\"\($0)\"") }
        #expect(missing == [], "no test has this name")
    }

    /// The quoted names in the last column of a table.
    private static func namesOfTests(in page: String) -> [Substring] {
        page.split(separator: "\n").filter { $0.hasPrefix("|") }.flatMap { row in
            (row.split(separator: "|").last ?? "").split(separator: "\"").enumerated().filter { $0.offset % 2 == 1 }
                .map(\.element)
        }
    }
}
