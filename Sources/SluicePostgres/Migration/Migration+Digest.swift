import Crypto

extension Migration {
    /// The SHA-256 of the text, in hexadecimal: what tells an edited file.
    package var sha256: String {
        SHA256.hash(data: Array(sql.utf8)).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
