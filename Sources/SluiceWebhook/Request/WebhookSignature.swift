import EventModel
import EventValidation
import Hashing
import NIOCore
import TrackerKit

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The identity and the signatures of a request, as the
/// [Standard Webhooks specification](https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md) has them.
struct WebhookSignature {
    /// A secret that signs: `whsec_` and its bytes in base64.
    struct Secret: Sendable {
        let bytes: [UInt8]

        /// Reads a line of the file; `nil` if it is not base64, or not of 24 to 64 bytes, which the specification asks for.
        init?(_ line: some StringProtocol) {
            let text = line.hasPrefix("whsec_") ? String(line.dropFirst(6)) : String(line)
            guard let data = Data(base64Encoded: text), (24...64).contains(data.count) else { return nil }
            bytes = Array(data)
        }
    }

    /// The identity of a tracker's request: the same for the same events in the same order and form, whenever they are sent.
    ///
    /// It is computed from their ids, because the bodies are ten times as long.
    static func identity(of events: Delivery, from tracker: String, as form: RequestBody.Form) -> String {
        var digest = SHA256Stream()
        // Of several trackers for one receiver, each sends events in its own form, and without the values that are hidden from it.
        for text in [tracker.lowercased(), form.contentType] {
            Array((text + "\n").utf8).withUnsafeBytes { digest.update($0) }
        }
        var ids: [UInt64] = []
        for slice in events.slices {
            for position in 0..<slice.count {
                let id = slice.batch.entries[slice.batchIndex(at: position)].id
                ids.append(id.high.bigEndian)
                ids.append(id.low.bigEndian)
            }
            ids.withUnsafeBytes { digest.update($0) }
            ids.removeAll(keepingCapacity: true)
        }
        return "msg_" + digest.finish().hexadecimal.prefix(32)
    }

    /// The value of `webhook-signature`: `v1,` and the code in base64 for each secret, separated by spaces.
    ///
    /// The body is signed as it is without compression, because most servers hand it to their programs like that.
    static func value(id: String, timestamp: Int64, body: ByteBuffer, secrets: [Secret]) -> String {
        let signed = Array("\(id).\(timestamp).".utf8) + body.readableBytesView
        return secrets.map { secret in
            let code = signed.withUnsafeBytes { HMACSHA256(of: $0, key: secret.bytes) }
            return "v1," + Data(code.bytes).base64EncodedString()
        }.joined(separator: " ")
    }
}
