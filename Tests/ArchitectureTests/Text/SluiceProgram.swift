import Foundation

/// The command as it was built beside these tests.
enum SluiceProgram {
    /// What it prints when it is called so.
    ///
    /// - Throws: where it cannot be started, or ends with an error.
    static func output(_ arguments: String...) throws -> String { try output(arguments) }

    /// What it prints when it is called so.
    static func output(_ arguments: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = try location()
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Problem("sluice \(arguments) failed") }
        return String(decoding: text, as: UTF8.self)
    }

    private static func location() throws -> URL {
        var folder = Bundle.main.bundleURL
        while folder.path != "/" {
            let program = folder.appendingPathComponent("sluice")
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: program.path, isDirectory: &isFolder), !isFolder.boolValue {
                return program
            }
            folder.deleteLastPathComponent()
        }
        throw Problem("there is no sluice beside \(Bundle.main.bundleURL.path)")
    }

    struct Problem: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }
}
