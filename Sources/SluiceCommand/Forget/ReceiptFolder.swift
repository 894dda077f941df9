import EventModel
import EventValidation
import Foundation
import SluiceSettings

/// The receipts of `sluice forget` in a folder, or in single files.
struct ReceiptFolder {
    /// A receipt and its file.
    struct Stored {
        let path: String
        var receipt: Receipt
    }

    /// Why receipts cannot be read.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let path: String

    /// The names of the receipts' files, sorted; `nil` if there is no folder.
    ///
    /// - Throws: `Failure` if the folder cannot be read.
    func names() throws(Failure) -> [String]? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".json") }.sorted()
        } catch {
            throw Failure(description: "the folder '\(path)' cannot be read")
        }
    }

    /// The names of the receipts' files, sorted.
    ///
    /// - Throws: `Failure` if the folder cannot be read, or if there is none: its file system may not be mounted, and without the
    ///   receipts people would come back.
    func existingNames() throws(Failure) -> [String] {
        guard let names = try names() else {
            throw Failure(
                description: "there is no folder '\(path)'; mount it, or create it before the first request"
            )
        }
        return names
    }

    /// Reads all receipts; none if there is no folder.
    ///
    /// - Throws: `Failure` if one cannot be read: a receipt that is ignored would bring people back.
    func read() throws(Failure) -> [Stored] {
        var receipts: [Stored] = []
        for name in try names() ?? [] { receipts.append(try Self.read(file: path + "/" + name)) }
        return receipts
    }

    /// Reads the receipts in files and folders that a user has named.
    ///
    /// - Throws: `Failure` if there is no such file or folder, or if one cannot be read.
    static func read(paths: [String]) throws(Failure) -> [Stored] {
        var receipts: [Stored] = []
        for path in paths {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                throw Failure(description: "there is no '\(path)'")
            }
            if isFolder.boolValue {
                receipts += try ReceiptFolder(path: path).read()
            } else {
                receipts.append(try read(file: path))
            }
        }
        return receipts
    }

    private static func read(file: String) throws(Failure) -> Stored {
        do {
            return Stored(path: file, receipt: try Receipt(json: try RegularFile.contents(own: file)))
        } catch {
            throw Failure(description: "'\(file)' cannot be used: \(error)")
        }
    }

    /// Writes a new receipt, and creates the folder if there is none, for the owner of the folder around it; only the owner may read
    /// it.
    func add(_ receipt: Receipt) throws -> Stored {
        let stored = Stored(path: path + "/" + receipt.fileName, receipt: receipt)
        try FileTransaction.run { files in
            try files.createFolder(path, keepsOwner: true)
            try files.replaceRegular(stored.path, receipt.json, newMode: 0o600, keepsOwner: true)
        }
        return stored
    }

    /// Writes a receipt again, in its file.
    static func update(_ stored: Stored) throws {
        try FileTransaction.run {
            try $0.replaceRegular(stored.path, stored.receipt.json, newMode: 0o600, keepsOwner: true)
        }
    }
}

extension Tombstones {
    /// The tombstones of the receipts that were made with a key.
    init(of receipts: [Receipt], key: HashKey) {
        self.init(receipts.filter { $0.isMade(with: key) }.flatMap(\.datedTombstones), key: key)
    }
}
