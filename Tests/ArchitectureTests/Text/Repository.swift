import Foundation

/// The project's own files on disk.
enum Repository {
    /// The folder with `Package.swift`.
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Every file that is committed or would be, by its path from the root; files that tools generate are skipped.
    static let files: [TextFile] = {
        let passedOver: Set = [".build", ".git", ".run", ".swiftpm", "Package.resolved", "results.json"]
        let found = FileManager.default.enumerator(at: root, includingPropertiesForKeys: [.isRegularFileKey])
        var files: [TextFile] = []
        while let url = found?.nextObject() as? URL {
            if passedOver.contains(url.lastPathComponent) {
                found?.skipDescendants()
                continue
            }
            let path = String(url.path.dropFirst(root.path.count + 1))
            // A file that is not UTF-8 is not text: it is an archive, or a plist that is invalid on purpose.
            guard let text = try? String(contentsOf: url, encoding: .utf8) else { continue }
            files.append(TextFile(path: path, text: text))
        }
        return files.sorted { $0.path < $1.path }
    }()

    /// The Swift files in the named folders.
    static func swiftFiles(in folders: String...) -> [TextFile] {
        files.filter { file in file.path.hasSuffix(".swift") && folders.contains { file.path.hasPrefix($0 + "/") } }
    }

    /// The text of a file; if the file does not exist, the test fails.
    static func text(of path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
}
