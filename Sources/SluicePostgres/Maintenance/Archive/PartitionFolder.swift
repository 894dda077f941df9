import EventModel
import TrackerKit

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The folders of a partition's archive: one that a program fills, and the one that it becomes once its receipt fits.
///
/// Another name for the complete archive tells it from the remains of a run that was interrupted.
struct PartitionFolder {
    private static let folderMode: mode_t = 0o750
    private static let receiptName = "receipt.json"

    private let root: String
    private let table: String
    private let partition: String
    private let draftName: String

    /// The folder that a program fills.
    var draft: String { "\(root)/.partial/\(draftName)" }
    /// The folder of the complete archives of the table.
    private var archives: String { "\(root)/\(table)" }

    init(in root: String, table: String, schema: String, partition: String) {
        self.root = root
        self.table = Self.fileName(table)
        self.partition = Self.fileName(partition)
        draftName = Self.fileName("\(schema).\(partition)")
    }

    /// A name of a relation, which can contain anything, as the name of a file.
    private static func fileName(_ name: String) -> String {
        // Goes through scalars, because a slash followed by a combining accent is another `Character`.
        let scalars = name.unicodeScalars.map { $0 == "/" ? "_" : $0 }
        return (scalars.first == "." ? "_" : "") + String(String.UnicodeScalarView(scalars))
    }

    /// Makes an empty folder for a program, without what an earlier run has left.
    func makeDraft() throws(TrackerError) {
        for folder in [root, "\(root)/.partial"] { try make(folder) }
        // If it cannot be removed, making it fails.
        try? FileManager.default.removeItem(atPath: draft)
        guard mkdir(draft, Self.folderMode) == 0 else { throw failure("make", draft) }
    }

    /// Reads the receipt that the program has written.
    func receipt() throws(TrackerError) -> ArchiveReceipt {
        let path = "\(draft)/\(Self.receiptName)"
        do {
            return try ArchiveReceipt(json: try RegularFile.contents(own: path))
        } catch {
            throw TrackerError(
                code: .failed,
                message: "The receipt \(path) cannot be used: \(error).",
                isRetryable: false
            )
        }
    }

    /// The receipts of the complete archives that have the partition's name.
    ///
    /// An interrupted run may have left one, and so may a month that was made again after it was archived.
    func completeReceipts() -> [ArchiveReceipt] {
        var receipts: [ArchiveReceipt] = []
        var number = 1
        while access(path(number), F_OK) == 0 {
            let contents = try? RegularFile.contents(own: "\(path(number))/\(Self.receiptName)")
            if let receipt = contents.flatMap({ try? ArchiveReceipt(json: $0) }) { receipts.append(receipt) }
            number += 1
        }
        return receipts
    }

    /// Gives the folder that the program has filled the name of a complete archive, and returns its path.
    func complete() throws(TrackerError) -> String {
        try make(archives)
        var number = 1
        while access(path(number), F_OK) == 0 { number += 1 }
        try sync(draft)
        guard rename(draft, path(number)) == 0 else { throw failure("rename", draft) }
        try sync(archives)
        try sync(root)
        return path(number)
    }

    private func path(_ number: Int) -> String {
        "\(archives)/\(partition)" + (number == 1 ? "" : "-\(number)")
    }

    private func make(_ folder: String) throws(TrackerError) {
        guard mkdir(folder, Self.folderMode) == 0 || errno == EEXIST else { throw failure("make", folder) }
    }

    /// Syncs the names in a folder.
    private func sync(_ folder: String) throws(TrackerError) {
        guard let stream = opendir(folder) else { throw failure("open", folder) }
        defer { closedir(stream) }
        // Some network file systems sync folders by themselves, and say that the call is invalid.
        guard fsync(dirfd(stream)) == 0 || errno == EINVAL || errno == ENOTSUP else { throw failure("sync", folder) }
    }

    private func failure(_ action: String, _ path: String) -> TrackerError {
        let reason = String(cString: strerror(errno))
        return TrackerError(
            code: .notPrepared,
            message: "The system refused to \(action) the folder \(path): \(reason).",
            isRetryable: false
        )
    }
}
