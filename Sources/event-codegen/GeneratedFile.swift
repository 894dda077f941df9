import EventCodegen
import Foundation
import PlanReading

/// The generated Swift file.
struct GeneratedFile {
    /// The reason for which the file was not written.
    struct Problem: Error {
        /// One sentence without a full stop.
        let sentence: String
    }

    let path: String

    /// Writes the file, unless it already has the same content, so that the compiler need not run again.
    ///
    /// - Throws: `Problem` if the file cannot be written, or if an existing file was not generated: the plan, for instance.
    func write(_ text: String) throws(Problem) {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
            guard !isFolder.boolValue else { throw Problem(sentence: "\(path) is a folder; name a file in it") }
            guard isFile else { throw Problem(sentence: "\(path) is not a file") }
            let present = try contents()
            if present == Data(text.utf8) { return }
            guard present.isEmpty || present.starts(with: Data(SwiftGenerator.mark.utf8)) else {
                throw Problem(sentence: "\(path) exists and was not generated; remove it, or choose another output")
            }
        }
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw Problem(sentence: "\(path) cannot be written: \(SystemReason.of(error))")
        }
    }

    /// Whether it is a regular file; a pipe or device cannot be replaced.
    private var isFile: Bool {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        return (try? FileManager.default.attributesOfItem(atPath: target))?[.type] as? FileAttributeType == .typeRegular
    }

    private func contents() throws(Problem) -> Data {
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw Problem(sentence: "\(path) cannot be read: \(SystemReason.of(error))")
        }
    }
}
