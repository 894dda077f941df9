import EventModel
import Foundation
import ServerTestSupport

/// Chromium in headless mode, which opens exported pages from a file.
struct Browser {
    /// Chromium is not installed, or has failed.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let programs = [
        "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
    ]

    private let folder: TestFolder
    private let program: String
    /// How long Chromium may take for a page.
    private let limit: Duration

    /// Uses a folder for its pages and its profile; `program` is run in place of Chromium.
    init(in folder: TestFolder, program: String? = nil, limit: Duration = .seconds(120)) throws {
        guard let program = program ?? Self.programs.first(where: FileManager.default.isExecutableFile) else {
            throw Failure(
                description:
                    "These tests need Chromium, and there is none: install the package chromium, or run `scripts/setup.sh test`."
            )
        }
        self.folder = folder
        self.program = program
        self.limit = limit
    }

    /// The document after the page has loaded, with a fragment, and its scripts have run.
    func document(_ name: String, fragment: String = "") async throws -> String {
        let url = URL(fileURLWithPath: folder.path(name)).absoluteString + fragment
        return try await run(["--virtual-time-budget=10000", "--dump-dom", url]).text
    }

    /// Prints a page to a PDF, and returns it.
    func print(_ name: String) async throws -> Data {
        let output = folder.path("print.pdf")
        let url = URL(fileURLWithPath: folder.path(name)).absoluteString
        _ = try await run(["--no-pdf-header-footer", "--print-to-pdf=\(output)", url])
        return try Data(contentsOf: URL(fileURLWithPath: output))
    }

    /// Runs the body of a JavaScript function in a page, and returns its result.
    ///
    /// The function sees the page, in a frame of the given width, as `page` and `document`. If `runsScripts` is false, the page's
    /// own scripts do not run.
    func evaluate<Value: Decodable>(
        _ script: String,
        on name: String,
        fragment: String = "",
        width: Int = 1024,
        runsScripts: Bool = true,
        as type: Value.Type = Value.self
    ) async throws -> Value {
        let limit = runsScripts ? "" : #"sandbox="allow-same-origin""#
        let probe = """
            <!DOCTYPE html><meta charset="utf-8">
            <iframe src="\(name)\(fragment)" width="\(width)" height="700" \(limit)></iframe>
            <script>
            const judge = (page, document) => { \(script) };
            window.onload = () => {
              const frame = document.querySelector("iframe");
              const result = document.createElement("pre");
              try {
                result.textContent = JSON.stringify(judge(frame.contentWindow, frame.contentDocument));
              } catch (error) {
                result.textContent = "failed: " + error;
              }
              document.body.append(result);
            };
            </script>
            """
        try folder.write(probe, to: "probe.html")
        return try Self.result(in: try await document("probe.html"))
    }

    /// Opens a page of a web site, and returns the JSON that its scripts write into a `pre`.
    func result<Value: Decodable>(ofPage url: String, as type: Value.Type = Value.self) async throws -> Value {
        try Self.result(in: try await run(["--virtual-time-budget=10000", "--dump-dom", url]).text)
    }

    private static func result<Value: Decodable>(in text: String) throws -> Value {
        guard let start = text.range(of: "<pre>", options: .backwards),
            let end = text.range(of: "</pre>", options: .backwards)
        else { throw Failure(description: "The page said nothing: \(text.suffix(500))") }
        let json = String(text[start.upperBound..<end.lowerBound])
            .replacingOccurrences(of: "&lt;", with: "<").replacingOccurrences(of: "&gt;", with: ">")
            .replacingOccurrences(of: "&amp;", with: "&")
        do {
            return try JSONDecoder().decode(Value.self, from: Data(json.utf8))
        } catch {
            throw Failure(description: "The page said: \(json)")
        }
    }

    private func run(_ arguments: [String]) async throws -> Command.Result {
        // Only the project's own pages are opened, and Chromium's sandbox is not available to root.
        let fixed = [
            "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--allow-file-access-from-files",
            "--user-data-dir=\(folder.path("profile"))",
        ]
        let result = try await withThrowingTaskGroup { group in
            group.addTask { try await Command.run(program, fixed + arguments) }
            group.addTask {
                let clock = RelativeClock(ContinuousClock())
                try await clock.sleepUntil(limit)
                throw Failure(description: "\(program) did not end within \(limit).")
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
        guard result.status == 0 else { throw Failure(description: "\(program) ended with status \(result.status).") }
        return result
    }
}
