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

    fileprivate init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// 64 hexadecimal digits, in lower case.
    package var hexadecimal: String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}

/// Computes the SHA-256 digest of bytes that come in pieces.
package struct SHA256Stream: ~Copyable {
    #if canImport(CryptoKit)
    private var hasher = SHA256()

    /// Begins with no bytes.
    package init() {}

    /// Adds bytes at the end.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        hasher.update(bufferPointer: bytes)
    }

    /// The digest of all bytes so far, after which no more may be added.
    package mutating func finish() -> SHA256Digest { SHA256Digest(Array(hasher.finalize())) }
    #else
    private let context = EVP_MD_CTX_new()

    /// Begins with no bytes.
    package init() {
        EVP_DigestInit_ex(context, EVP_sha256(), nil)
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// Adds bytes at the end.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// The digest of all bytes so far, after which no more may be added.
    package mutating func finish() -> SHA256Digest {
        SHA256Digest(
            [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { digest, count in
                EVP_DigestFinal_ex(context, digest.baseAddress, nil)
                count = digest.count
            }
        )
    }
    #endif
}
