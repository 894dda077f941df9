import Foundation
import SluiceTesting
import Synchronization

/// The lines that a process writes to a pipe; a test can wait for a line.
final class OutputLog: Sendable {
    /// An expected line was not written.
    struct Missing: Error, CustomStringConvertible {
        let text: String
        let output: String

        var description: String { "no line with '\(text)' came; there was:\n\(output.suffix(4000))" }
    }

    private struct Progress: Sendable {
        var lines = 0
        var isClosed = false
    }

    private struct Content: Sendable {
        var lines: [String] = []
        /// The output after the last newline.
        var rest: [UInt8] = []
    }

    private let keepsLines: Bool
    private let content = Mutex(Content())
    private let progress = Watched(Progress())

    /// Reads a descriptor to its end on a separate thread, and closes it; if `keepsLines` is false, lines are only counted.
    init(reading handle: FileHandle, keepsLines: Bool) {
        self.keepsLines = keepsLines
        // The handle's owner may be deallocated before the end of the output.
        let descriptor = dup(handle.fileDescriptor)
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
                guard count > 0 else { break }
                append(buffer[..<count])
            }
            _ = close(descriptor)
            end()
        }
    }

    /// The lines so far; after the end of the output, including a last line without a newline.
    var lines: [String] { content.withLock { $0.lines } }

    /// All lines as one text.
    var text: String { lines.joined(separator: "\n") }

    /// Waits for a line that contains this text.
    func line(containing text: String) async throws -> String {
        var seen = 0
        while true {
            let isClosed = progress.value.isClosed
            let lines = self.lines
            if let line = lines[seen...].first(where: { $0.contains(text) }) { return line }
            if isClosed || Task.isCancelled { throw Missing(text: text, output: self.text) }
            seen = lines.count
            await progress.wait { [seen] in $0.lines > seen || $0.isClosed }
        }
    }

    /// Waits until there are at least `count` lines.
    func waitForLines(_ count: Int) async throws {
        await progress.wait { $0.lines >= count || $0.isClosed }
        let lines = progress.value.lines
        if lines < count { throw Missing(text: "the \(count)th", output: text) }
    }

    /// Waits for the end of the output, when every process that can write to the pipe has closed it.
    func waitForEnd() async {
        await progress.wait { $0.isClosed }
    }

    private func append(_ bytes: ArraySlice<UInt8>) {
        let newline = UInt8(ascii: "\n")
        let count = bytes.count { $0 == newline }
        if keepsLines {
            content.withLock { content in
                content.rest += bytes
                guard let end = content.rest.lastIndex(of: newline) else { return }
                let whole = content.rest[..<end].split(separator: newline, omittingEmptySubsequences: false)
                content.lines += whole.map { String(decoding: $0, as: UTF8.self) }
                content.rest.removeFirst(end + 1)
            }
        }
        progress.update { $0.lines += count }
    }

    private func end() {
        let hasRest = content.withLock { content in
            guard !content.rest.isEmpty else { return false }
            content.lines.append(String(decoding: content.rest, as: UTF8.self))
            content.rest = []
            return true
        }
        progress.update { progress in
            progress.lines += hasRest ? 1 : 0
            progress.isClosed = true
        }
    }
}
