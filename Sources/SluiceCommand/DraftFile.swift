import Foundation
import SystemPackage

/// A file that is written whole beside the place that it then takes.
enum DraftFile {
    /// Writes the file, and waits until it is on disk; `mode` is what it is to have, unless it is what new files get.
    static func write(_ bytes: [UInt8], to path: String, mode: UInt16? = nil) throws {
        let file = try FileDescriptor.open(
            FilePath(path),
            .writeOnly,
            options: [.create, .exclusiveCreate],
            permissions: mode == nil ? [.ownerReadWrite, .groupRead, .otherRead] : .ownerReadWrite
        )
        try file.closeAfter {
            _ = try file.writeAll(bytes)
            // What it is made with is subject to the process's mask.
            if let mode, fchmod(file.rawValue, mode_t(mode)) != 0 { throw Errno(rawValue: errno) }
            // A disk that is full may say so only now.
            guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
        }
    }
}
