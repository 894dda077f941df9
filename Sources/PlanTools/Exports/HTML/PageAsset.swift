import Hashing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A file of this folder that is embedded in the program and in the page.
struct PageAsset {
    static let style = PageAsset(PackageResources.catalogue_css)
    static let script = PageAsset(PackageResources.catalogue_js)

    /// The content, which is inserted into the page without escaping.
    let html: HTML
    /// The digest of the content, as a Content-Security-Policy names it.
    let digest: String

    private init(_ bytes: [UInt8]) {
        html = HTML(stringLiteral: String(decoding: bytes, as: UTF8.self))
        digest = "sha256-" + Data(SHA256Digest(of: bytes).bytes).base64EncodedString()
    }
}
