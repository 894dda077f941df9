package import Gzip

extension GzipInflater {
    /// Inflates a whole stream, which may have several members.
    ///
    /// - Throws: `GzipError` if it is not gzip, or ends within a member.
    package static func inflated(_ bytes: [UInt8]) throws -> [UInt8] {
        var inflater = try GzipInflater()
        var output: [UInt8] = []
        try bytes.withUnsafeBytes { bytes in
            var input = bytes
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            var written = 0
            repeat {
                written = try piece.withUnsafeMutableBytes { try inflater.inflate(&input, into: $0) }
                output += piece[..<written]
            } while !input.isEmpty || written == piece.count
        }
        try inflater.finish()
        return output
    }
}
