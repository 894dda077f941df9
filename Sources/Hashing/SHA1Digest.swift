#if canImport(CryptoKit)
import CryptoKit
#else
import CLibCrypto
#endif

/// The SHA-1 digest of some bytes (FIPS 180-4), computed by the system's library.
///
/// It serves identifiers, such as UUIDs of version 5, and not security.
package struct SHA1Digest: Sendable, Hashable {
    /// The 20 bytes of the digest.
    package let bytes: [UInt8]

    /// Computes the digest of all of `bytes`.
    package init(of bytes: [UInt8]) {
        #if canImport(CryptoKit)
        self.bytes = Array(Insecure.SHA1.hash(data: bytes))
        #else
        self.bytes = [UInt8](unsafeUninitializedCapacity: Int(SHA_DIGEST_LENGTH)) { digest, count in
            _ = SHA1(bytes, bytes.count, digest.baseAddress)
            count = digest.count
        }
        #endif
    }
}
