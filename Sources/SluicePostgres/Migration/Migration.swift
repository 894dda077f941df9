import Hashing
import SluiceMigrations
public import TrackerKit

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A step in the history of a database: an SQL file that is applied once and never edited afterwards.
public struct Migration: Sendable, Hashable {
    /// The position in the order, from 1.
    public let number: Int
    /// The file's name, such as `0001_schema.sql`.
    public let name: String
    /// The statements.
    ///
    /// They run in one transaction, with the schema of the events' tables first on `search_path` and its name in the
    /// setting `sluice.schema`.
    public let sql: String

    /// Creates a migration from a file's name and text.
    ///
    /// Returns `nil` if the name is not four digits, an underscore, words, and `.sql`.
    public init?(name: String, sql: String) {
        let parts = name.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
        guard
            parts.count == 2, parts[0].utf8.count == 4, name.hasSuffix(".sql"), parts[1].utf8.count > ".sql".utf8.count,
            parts[0].utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let number = Int(parts[0]), number > 0
        else { return nil }
        self.number = number
        self.name = name
        self.sql = sql
    }

    /// Sluice's own migrations, in order: the files of the project's folder `migrations`, compiled into the program.
    public static var builtIn: [Migration] {
        MigrationFiles.all.compactMap { Migration(name: $0.name, sql: $0.sql) }
    }

    /// The SHA-256 of the text in hexadecimal, by which an edited file is detected.
    package var sha256: String { SHA256Digest(of: Array(sql.utf8)).hexadecimal }
}

extension Migration {
    /// Reads all migrations of a folder, in the order of their numbers.
    ///
    /// - Throws: `misconfigured` if the folder does not exist or contains no migrations, if an SQL file does not have a
    ///   migration's name, or if two files have the same number.
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

    /// The migrations that `sluice migrate` and `sluice export sql` apply: those of the folder, or without one `builtIn`.
    ///
    /// - Throws: What `read(folder:)` throws.
    package static func ofFolderOrBuiltIn(_ folder: String?) throws(TrackerError) -> [Migration] {
        guard let folder else { return builtIn }
        return try read(folder: folder)
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
