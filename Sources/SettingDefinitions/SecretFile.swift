import EventModel

/// A file that contains a secret.
package enum SecretFile {
    /// The bytes of the file without one line break at its end, which most editors add.
    ///
    /// - Throws: If the file cannot be read.
    package static func contents(of path: String) throws -> [UInt8] {
        var bytes = try RegularFile.contents(given: path)
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }

    /// The bytes of a file that had a secret when the program started.
    ///
    /// - Throws: `Problem` if it has none now.
    package static func currentContents(of path: String) throws(Problem) -> [UInt8] {
        let bytes = (try? contents(of: path)) ?? []
        if bytes.isEmpty { throw Problem(path: path) }
        return bytes
    }

    /// A file that had a secret is missing, empty or unreadable.
    package struct Problem: Error, CustomStringConvertible {
        package let path: String

        package var description: String { "The file '\(path)' with the secret is missing, empty, or cannot be read." }
    }
}
