import Foundation

/// The project's own files, as they stand on disk.
enum Repository {
    /// The folder that holds `Package.swift`.
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Every file that is or would be committed, by its path from the root; what tools leave behind is passed over.
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
            // What is no UTF-8 is no text: an archive, or a plist made to be wrong.
            guard let text = try? String(contentsOf: url, encoding: .utf8) else { continue }
            files.append(TextFile(path: path, text: text))
        }
        return files.sorted { $0.path < $1.path }
    }()

    /// The Swift files under the named folders.
    static func swiftFiles(in folders: String...) -> [TextFile] {
        files.filter { file in file.path.hasSuffix(".swift") && folders.contains { file.path.hasPrefix($0 + "/") } }
    }

    /// The text of one file; a test that needs it fails where it is not there.
    static func text(of path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
}
