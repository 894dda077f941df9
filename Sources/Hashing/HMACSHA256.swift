#if canImport(CryptoKit)
import CryptoKit
#else
import CLibCrypto
#endif

/// The keyed hash of some bytes: HMAC (RFC 2104) with SHA-256, computed by the system's library.
package struct HMACSHA256: Sendable, Hashable {
    /// The 32 bytes of the code.
    package let bytes: [UInt8]

    /// Computes the code of all of `bytes`.
    package init(of bytes: UnsafeRawBufferPointer, key: [UInt8]) {
        #if canImport(CryptoKit)
        self.bytes = Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
        #else
        let text = bytes.bindMemory(to: UInt8.self)
        self.bytes = [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { code, count in
            _ = HMAC(EVP_sha256(), key, Int32(key.count), text.baseAddress, text.count, code.baseAddress, nil)
            count = code.count
        }
        #endif
    }
}
