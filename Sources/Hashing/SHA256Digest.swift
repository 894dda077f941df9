#if canImport(CryptoKit)
import CryptoKit
#else
import CLibCrypto
#endif

/// The SHA-256 digest of some bytes (FIPS 180-4), computed by the system's library.
package struct SHA256Digest: Sendable, Hashable {
    /// The 32 bytes of the digest.
    package let bytes: [UInt8]

    /// Computes the digest of all of `bytes`.
    package init(of bytes: [UInt8]) {
        #if canImport(CryptoKit)
        self.bytes = Array(SHA256.hash(data: bytes))
        #else
        self.bytes = [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { digest, count in
            _ = SHA256(bytes, bytes.count, digest.baseAddress)
            count = digest.count
        }
        #endif
    }

    /// 64 hexadecimal digits, in lower case.
    package var hexadecimal: String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
