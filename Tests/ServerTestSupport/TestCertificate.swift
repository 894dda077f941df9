import Foundation
package import SluiceHTTP
import Testing

/// A certificate for 127.0.0.1 that vouches for itself, made by `openssl`.
package struct TestCertificate {
    package let certificate: String
    package let privateKey: String

    /// Makes the files NAME.pem and NAME.key in a folder.
    package init(_ name: String, in folder: TestFolder) async throws {
        certificate = folder.url.appending(path: "\(name).pem").path
        privateKey = folder.url.appending(path: "\(name).key").path
        let result = try await Command.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-keyout", privateKey, "-out", certificate, "-subj", "/CN=\(name)",
                "-addext", "subjectAltName=IP:127.0.0.1",
            ]
        )
        try #require(result.status == 0)
    }

    package var paths: TLSFiles.Paths { TLSFiles.Paths(certificate: certificate, privateKey: privateKey) }
}
