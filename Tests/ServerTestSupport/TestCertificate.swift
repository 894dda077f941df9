import Foundation
package import SluiceHTTP
import Testing

/// A certificate that vouches for itself, made by `openssl`.
package struct TestCertificate {
    package let certificate: String
    package let privateKey: String

    /// Makes the files NAME.pem and NAME.key in a folder, by default for 127.0.0.1.
    package init(_ name: String, for subject: String = "IP:127.0.0.1", in folder: TestFolder) async throws {
        certificate = folder.url.appending(path: "\(name).pem").path
        privateKey = folder.url.appending(path: "\(name).key").path
        let result = try await Command.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-keyout", privateKey, "-out", certificate, "-subj", "/CN=\(name)",
                "-addext", "subjectAltName=\(subject)",
            ]
        )
        try #require(result.status == 0)
    }

    package var paths: TLSFiles.Paths { TLSFiles.Paths(certificate: certificate, privateKey: privateKey) }
}
