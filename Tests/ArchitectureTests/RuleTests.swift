import Testing

/// Each rule finds violations, and allows what it should.
@Suite struct RuleTests {
    private static let manifest = Manifest(
        """
            .target(name: "Leaf"),
            .target(
                name: "PlanReading",
                dependencies: [
                    "Leaf", .target(name: "CLeaf", condition: .when(platforms: [.linux])),
                    .product(name: "NIOCore", package: "swift-nio"),
                ]
            ),
        """
    )

    @Test("an import that the target does not depend on is found, and another is not")
    func imports() {
        #expect(Self.manifest.dependencies == ["Leaf": [], "PlanReading": ["Leaf", "CLeaf", "NIOCore"]])
        let file = TextFile(
            path: "Sources/PlanReading/A.swift",
            text: """
                public import Leaf
                import CLeaf
                @preconcurrency import struct NIOPosix.ByteBuffer
                import NIOCore
                import Dispatch

                """
        )
        #expect(ImportRule.findings(in: file, manifest: Self.manifest).map(\.line) == [3])
    }

    @Test("Foundation outside its folders is found")
    func importFolders() {
        let findings = { (path: String) in
            ImportRule.findings(in: TextFile(path: path, text: "import Foundation\n"), manifest: Self.manifest)
        }
        #expect(findings("Sources/PlanReading/Checks/A.swift").count == 1)
        #expect(findings("Sources/PlanReading/Plist/A.swift").isEmpty)
    }

    @Test("a module that is no target is found")
    func unknownModule() {
        let file = TextFile(path: "Sources/Brandnew/A.swift", text: "")
        #expect(ImportRule.findings(in: file, manifest: Self.manifest).count == 1)
    }

    @Test("each banned call is found in code", arguments: BannedCallRule.all)
    func bannedCalls(rule: BannedCallRule) {
        for folder in rule.folders {
            let file = TextFile(path: folder + "A/A.swift", text: "    let a = \(rule.text) b\n")
            #expect(rule.findings(in: file, code: SwiftCode.lines(of: file.text)).map(\.line) == [1])
        }
    }

    @Test("a banned call in a comment or a string is not found", arguments: BannedCallRule.all)
    func quotedCalls(rule: BannedCallRule) {
        let text = """
            // \(rule.text)
            let a = "\(rule.text)" // \(rule.text)
            let b = #"a "\(rule.text)"#

            """
        for folder in rule.folders {
            let file = TextFile(path: folder + "A/A.swift", text: text)
            #expect(rule.findings(in: file, code: SwiftCode.lines(of: text)).isEmpty)
        }
    }

    @Test(
        "a call that sleeps is found, in Swift, a shell or SQL",
        arguments: [
            "try await Task.sleep(for: .seconds(1))", "try await ContinuousClock().sleep(until: later)", "usleep(5)",
            #"_ = try await Command.run("sleep", ["1"])"#, #"run("SELECT pg_sleep(0.5)")"#,
            #"run("sh", "sleep 1; exit")"#,
        ]
    )
    func sleeping(line: String) {
        #expect(SleepRule.findings(in: TextFile(path: "Tests/A/A.swift", text: "\n\(line)\n")).map(\.line) == [2])
        #expect(SleepRule.findings(in: TextFile(path: "Tests/A/A.swift", text: "// \(line)\n")).isEmpty)
    }

    @Test("waking a sleeping task does not count as sleeping")
    func sleepers() {
        let text = "await clock.waitForSleepers(1)\npipeline.clock.sleepUntil(time)\nlet sleepers = 1\n"
        #expect(SleepRule.findings(in: TextFile(path: "Sources/A/A.swift", text: text)).isEmpty)
    }

    @Test("a longer word that ends like a banned call is not found")
    func partsOfWords() {
        let text = "fingerprint(a)\nlet x = has!\nreprint(b)\n"
        let file = TextFile(path: "Sources/A/A.swift", text: text)
        #expect(BannedCallRule.all.flatMap { $0.findings(in: file, code: SwiftCode.lines(of: text)) }.isEmpty)
    }

    @Test("a value in a log message is found, and one in its metadata is not")
    func logMessages() {
        let text = #"""
            logger.info("It is \(value).")
            logger.log(level: level, "\(value)")
            logger.error(
                "It failed: \(error)"
            )
            logger.info("It is done.", metadata: ["value": "\(value)"])

            """#
        #expect(LogMessageRule.findings(in: TextFile(path: "Sources/A/A.swift", text: text)).map(\.line) == [1, 2, 3])
    }

    @Test("an unsafe declaration without a reason is found")
    func unsafeReasons() {
        let text = """
            // Safe: nobody else has it.
            nonisolated(unsafe) let a: P
            nonisolated(unsafe) let b: P

            final class C: @unchecked Sendable {}

            """
        let file = TextFile(path: "Sources/A/A.swift", text: text)
        #expect(UnsafeRule.findings(in: file, code: SwiftCode.lines(of: text)).map(\.line) == [5])
    }

    @Test("an inlinable package declaration is found, and a public one is not")
    func inlinable() {
        let text = """
            @inlinable
            @inline(__always)
            package func a() {}
            @inlinable package var b: Int { 1 }
            @inlinable
            public func c() {}
            package var d: Int { 1 }

            """
        let file = TextFile(path: "Sources/A/A.swift", text: text)
        #expect(InlinableRule.findings(in: file, code: SwiftCode.lines(of: text)).map(\.line) == [1, 4])
    }

    @Test("an unstructured task without a reason is found")
    func looseTasks() {
        let text = """
            // Not a child: it must outlive this one.
            let a = Task { b() }

            let c = MyTask {}
            let d = Task { e() }

            """
        let code = SwiftCode.lines(of: text)
        let source = TextFile(path: "Sources/A/A.swift", text: text)
        let test = TextFile(path: "Tests/A/A.swift", text: text)
        #expect(LooseTaskRule.findings(in: source, code: code).map(\.line) == [5])
        #expect(LooseTaskRule.findings(in: test, code: code).isEmpty)
    }

    @Test("a file over the limit is found, and one at the limit is not")
    func longFile() {
        let text = String(repeating: "a\n", count: SizeRule.linesOfFile)
        #expect(sizes(of: text).isEmpty)
        #expect(sizes(of: text + "a\n").map(\.line) == [0])
    }

    @Test("a file that deserves a look is found before it is over the limit")
    func suspiciousFile() {
        let text = String(repeating: "a\n", count: SizeRule.suspiciousLinesOfFile)
        #expect(SizeRule.warnings(in: TextFile(path: "Sources/A/A.swift", text: text)).isEmpty)
        #expect(SizeRule.warnings(in: TextFile(path: "Sources/A/A.swift", text: text + "a\n")).map(\.line) == [0])
        #expect(sizes(of: text + "a\n").isEmpty)
    }

    @Test("a function over the limit is found, and one at the limit is not")
    func longFunction() {
        func text(_ count: Int) -> String {
            "struct A {\n    func f(\n        a: Int\n    ) {\n"
                + String(repeating: "        if a { b() }\n", count: count - 4) + "    }\n    func g()\n}\n"
        }
        #expect(sizes(of: text(SizeRule.linesOfFunction)).isEmpty)
        #expect(sizes(of: text(SizeRule.linesOfFunction + 1)).map(\.line) == [2])
    }

    @Test("a meaningless file name is found", arguments: ["Sources/A/Utilities/B.swift", "Sources/A/TextHelper.swift"])
    func emptyPaths(path: String) {
        #expect(NameRule.findings(in: TextFile(path: path, text: ""), code: []).count == 1)
    }

    @Test("a type with a meaningless name is found")
    func emptyTypes() {
        let file = TextFile(path: "Sources/A/A.swift", text: "final class QueueManager {}\nstruct CommonPrefix {}\n")
        #expect(NameRule.findings(in: file, code: SwiftCode.lines(of: file.text)).map(\.line) == [1])
    }

    @Test("a path that exists only on one machine is found", arguments: MachinePathRule.forbidden)
    func machinePaths(word: String) {
        #expect(MachinePathRule.findings(in: TextFile(path: "a.md", text: "a\nsee \(word)b\n")).map(\.line) == [2])
    }

    @Test("a link to a file or a heading that does not exist is found, and others are not")
    func links() {
        let text = """
            # A page

            See [the file](B.md), [a heading](B.md#a-heading-with-code), [a second one](B.md#twice-1), [the top](#a-page),
            [the folder](../Sources), [another page](../README.md#other) and [a site](https://example.org/a#b).
            [no file](C.md), [no heading](B.md#none), [a comment](B.md#in-code), [too many](B.md#twice-2), [none](#none)

            """
        let other = "# A heading, with `code`\n\n## Twice\n\n## Twice\n\n```\n# In code\n```\n"
        let documents = ["Documentation/A.md": text, "Documentation/B.md": other, "README.md": "## Other\n"]
        let findings = LinkRule.findings(
            in: TextFile(path: "Documentation/A.md", text: text),
            documents: documents,
            exists: { documents[$0] != nil || $0 == "Sources" }
        )
        let sentences = [
            "there is no file 'C.md'", "Documentation/B.md has no heading '#none'",
            "Documentation/B.md has no heading '#in-code'", "Documentation/B.md has no heading '#twice-2'",
            "Documentation/A.md has no heading '#none'",
        ]
        #expect(findings.map(\.sentence) == sentences)
        #expect(findings.allSatisfy { $0.line == 5 })
    }

    @Test("a test that the threat model names and that does not exist is found, and others are not")
    func threats() {
        let text = """
            Text, with "no name of a test".

            | attempt | what stops it | shown by |
            |---|---|---|
            | guessing | "not here" | "a guess is refused", "a guess is logged" |
            | flooding | a limit | `key-limits` |
            | reading | a lock | "a reader is refused" |

            """
        let tests = TextFile(
            path: "Tests/A/ATests.swift",
            text: "@Test(\"a guess is refused\") func a() {}\n// A reader is refused.\n"
        )
        let findings = ThreatRule.findings(in: TextFile(path: "A.md", text: text), tests: [tests])
        #expect(
            findings.map(\.description) == [
                #"A.md:5: no test has the name "a guess is logged""#,
                #"A.md:7: no test has the name "a reader is refused""#,
            ]
        )
    }

    @Test(
        "a script that continues after errors is found",
        arguments: ["#!/usr/bin/env bash\n# Why.\necho a\nset -euo pipefail\n", "#!/bin/sh\nset -eu\n", "echo a\n"]
    )
    func scripts(text: String) {
        #expect(ScriptRule.findings(in: TextFile(path: "a.sh", text: text)).count == 1)
    }

    @Test("a script with the required options passes")
    func goodScript() {
        let text = "#!/usr/bin/env bash\n# Why.\n\nset -euo pipefail\necho a\n"
        #expect(ScriptRule.findings(in: TextFile(path: "a.sh", text: text)).isEmpty)
    }

    private func sizes(of text: String) -> [Finding] {
        SizeRule.findings(in: TextFile(path: "Sources/A/A.swift", text: text), code: SwiftCode.lines(of: text))
    }
}
