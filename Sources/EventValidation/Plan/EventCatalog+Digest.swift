public import EventModel
import EventSchema
import Hashing
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension EventCatalog {
    /// A digest that was computed.
    final class KnownDigest: Sendable {
        fileprivate let digest: PlanDigest

        init(_ digest: PlanDigest) {
            self.digest = digest
        }
    }

    /// Grows with each release whose check treats an event differently than the release before, so that events of a journal are
    /// checked again after such an upgrade.
    package static let checkRevision: UInt8 = 2

    /// Identifies the rules of the plan: events, properties and trackers, but not their descriptions and places; computed when it is
    /// first asked for.
    public var planDigest: PlanDigest {
        if let known = knownDigest.load() { return known.digest }
        return knownDigest.storeIfNil(KnownDigest(planDigest(ofCheck: Self.checkRevision))).digest
    }

    /// The digest of the plan in a release whose check has this revision.
    package func planDigest(ofCheck revision: UInt8) -> PlanDigest {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // A plan that was made in Swift may have such limits.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        let text: Data
        do {
            text = try encoder.encode(plan.rules)
        } catch {
            preconditionFailure("every value of a plan can be written as JSON: \(error)")
        }
        return SHA256Digest(of: [revision] + text).bytes.withUnsafeBytes { PlanDigest($0) }
    }
}
