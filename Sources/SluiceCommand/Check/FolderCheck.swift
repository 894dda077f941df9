import Foundation
import SystemPackage

/// Checks whether a folder can be written to or created, without doing either.
enum FolderCheck {
    static func part(_ name: String, _ path: String) -> CheckReport.Part {
        CheckReport.Part(
            name: name,
            summary: path,
            problems: problem(with: path).map { [CheckReport.Problem(code: "folder-unusable", sentence: $0)] } ?? []
        )
    }

    /// Describes the problem; `nil` if there is none.
    private static func problem(with path: String) -> String? {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
            guard isFolder.boolValue else { return "'\(path)' is not a folder; choose another path." }
            return denial(at: path).map { "The folder '\(path)' cannot be written to: \($0)." }
        }
        // It will be created in the nearest folder above it that exists.
        var above = FilePath(path).removingLastComponent()
        while !above.isEmpty, !FileManager.default.fileExists(atPath: above.string) {
            above = above.removingLastComponent()
        }
        let parent = above.isEmpty ? "." : above.string
        return denial(at: parent).map { "The folder '\(path)' cannot be created in '\(parent)': \($0)." }
    }

    private static func denial(at folder: String) -> Errno? {
        access(folder, W_OK | X_OK) == 0 ? nil : Errno(rawValue: errno)
    }
}
