import Foundation
import ServerTestSupport
import Testing

/// The Singer targets that `make setup-test` installs.
enum SingerTarget {
    /// The program of a target.
    static func path(_ name: String) throws -> String {
        let program = RepositoryFile.url(".run/\(name)/bin/\(name)")
        try #require(
            FileManager.default.isExecutableFile(atPath: program.path),
            "\(name) is not installed: run `make setup-test`"
        )
        return program.path
    }
}
