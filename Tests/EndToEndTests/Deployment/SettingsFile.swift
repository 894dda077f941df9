import Foundation
import ServerTestSupport

/// A file with settings for a deployment, in which the paths are those of a container.
enum SettingsFile {
    /// What `sluice config check` prints about the text of a file, if its secrets exist.
    static func problems(in text: String) async throws -> [String] {
        let folder = try TestFolder()
        let paths = /\/(run|etc|var)\/[a-z.\/-]+/
        for path in text.matches(of: paths).map({ String($0.0) }) {
            // A text that is valid as a token and as a URI.
            try folder.write("postgres://db.example/secret-of-a-test", to: String(path.dropFirst()))
        }
        try folder.write(text.replacing(paths) { "." + $0.0 }, to: "sluice.yaml")
        return try await Sluice.run("config", "check", "--config", "sluice.yaml", in: folder).output
    }
}
