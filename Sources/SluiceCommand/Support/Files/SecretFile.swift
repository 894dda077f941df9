import Foundation

/// A file that contains a secret.
enum SecretFile {
    /// The bytes of the file without one line break at its end, which most editors add.
    ///
    /// - Throws: If the file cannot be read.
    static func contents(of path: String) throws -> [UInt8] {
        var bytes = Array(try Data(contentsOf: URL(filePath: path)))
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }
}
