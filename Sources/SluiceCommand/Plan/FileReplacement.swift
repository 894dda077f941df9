import Foundation
import SystemPackage

/// Replaces a file in one step: whoever reads it finds the old bytes or the new ones.
enum FileReplacement {
    /// Puts a new file in the place of an old one, with the old one's mode; a link stays one, and its file is replaced.
    ///
    /// - Throws: a sentence with the file's name, where nothing was changed.
    static func replace(_ path: String, with bytes: [UInt8]) throws(FileReplacementError) {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let temporary = "\(target).\(ProcessInfo.processInfo.processIdentifier).tmp"
        do {
            let mode = try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? NSNumber
            try DraftFile.write(bytes, to: temporary, mode: mode?.uint16Value ?? 0o644)
            guard rename(temporary, target) == 0 else { throw Errno(rawValue: errno) }
        } catch {
            unlink(temporary)
            let reason = (error as? Errno).map(String.init(describing:)) ?? error.localizedDescription
            throw FileReplacementError(description: "\(path): the file cannot be written: \(reason)")
        }
    }
}

/// Why a file could not be replaced; a sentence.
struct FileReplacementError: Error, CustomStringConvertible {
    let description: String
}
