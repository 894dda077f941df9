import Foundation
import SystemPackage

/// The folders that a command has made, to be taken back where it cannot do all that it was asked for.
struct MadeFolders {
    private var paths: [String] = []

    /// Makes a folder, and those that it stands in; one that is there is as good.
    mutating func make(_ path: String) throws {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
            guard isFolder.boolValue else { throw Terminal.failure("'\(path)' is no folder.") }
            return
        }
        let parent = FilePath(path).removingLastComponent().string
        if !parent.isEmpty, parent != path { try make(parent) }
        guard mkdir(path, 0o777) == 0 else {
            throw Terminal.failure("The folder '\(path)' cannot be made: \(Errno(rawValue: errno)).")
        }
        paths.append(path)
    }

    /// Removes those that are empty again: another one may have begun to use them.
    func remove() {
        for path in paths.reversed() { rmdir(path) }
    }
}
