public import TrackerKit

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Migration {
    /// Reads all migrations of a folder, in the order of their numbers.
    ///
    /// - Throws: `misconfigured` where the folder is not there or empty of migrations, where a file of SQL has a name that
    ///   is no migration's, and where two have the same number.
    public static func read(folder: String) throws(TrackerError) -> [Migration] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            throw .migrations("The folder of migrations '\(folder)' cannot be read.", error)
        }
        var migrations: [Migration] = []
        for name in names.sorted() where name.hasSuffix(".sql") {
            let path = folder + "/" + name
            guard let migration = Migration(name: name, sql: try text(of: path)) else {
                throw .migrations("\(path): a migration's name is four digits, an underscore and words: 0001_name.sql.")
            }
            if let last = migrations.last, last.number == migration.number {
                throw .migrations("\(path): the number is taken by \(last.name).")
            }
            migrations.append(migration)
        }
        guard !migrations.isEmpty else {
            throw .migrations("The folder '\(folder)' holds no migrations.")
        }
        return migrations
    }

    private static func text(of path: String) throws(TrackerError) -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw .migrations("\(path) cannot be read as UTF-8.", error)
        }
    }
}

extension TrackerError {
    fileprivate static func migrations(_ message: String, _ underlying: (any Error)? = nil) -> TrackerError {
        TrackerError(code: .misconfigured, message: message, isRetryable: false, underlying: underlying)
    }
}
