import NIOPosix
import NIOSSL
import SettingDefinitions
import TrackerKit

/// What a connection takes from files, which are read for each connection, so that replaced ones are used.
struct ConnectionFiles: Sendable {
    let lines: EventLines
    /// `nil` without TLS.
    let tls: NIOSSLContext?

    /// Reads the files on a thread that may block.
    static func reading(
        _ configuration: SocketConfiguration,
        isSecured: Bool
    ) async throws(TrackerError) -> ConnectionFiles {
        do {
            return try await NIOThreadPool.singleton.runIfActive {
                ConnectionFiles(
                    lines: EventLines(configuration.format, fields: try fields(configuration)),
                    tls: isSecured ? try ReceiverTLS.context(configuration) : nil
                )
            }
        } catch let error as TrackerError {
            throw error
        } catch {
            // The thread pool throws nothing else.
            throw .cancelled
        }
    }

    private static func fields(_ configuration: SocketConfiguration) throws(TrackerError) -> [EventLines.Field] {
        var fields = configuration.fields.map { text in
            let entry = SettingEntry(text)
            return (entry.name, entry.value ?? "")
        }
        for text in configuration.fieldFiles {
            let entry = SettingEntry(text)
            let bytes: [UInt8]
            do throws(SecretFile.Problem) {
                bytes = try SecretFile.currentContents(of: entry.value ?? "")
            } catch {
                throw SocketErrors.notPrepared("\(error)")
            }
            guard let value = String(validating: bytes, as: UTF8.self) else {
                throw SocketErrors.notPrepared("The file '\(entry.value ?? "")' is not text in UTF-8; correct it.")
            }
            fields.append((entry.name, value))
        }
        return fields
    }
}
