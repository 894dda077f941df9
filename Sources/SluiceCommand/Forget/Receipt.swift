import EventModel
import EventValidation
import Foundation
import TrackerKit

/// What `sluice forget` has erased, what remains elsewhere and until when, and the tombstones; never an identifier.
///
/// It is stored as JSON; Documentation/Operate/Erasure.md describes its fields.
struct Receipt: Codable, Hashable {
    /// The value of `format`; a receipt with another one is not read.
    static let format = "sluice-receipt-1"

    /// A tombstone without its time, which is the receipt's `requestedAt`.
    struct Entry: Codable, Hashable {
        let subject: String
        let hash: String
    }

    /// How many events were erased or anonymised in a place of a tracker.
    struct Erased: Codable, Hashable {
        let tracker: String
        let place: String
        let events: Int
    }

    /// How many events were deleted and how many anonymised, or would be.
    struct Counts {
        var erased: [Erased] = []
        var anonymised: [Erased] = []

        mutating func add(_ events: [ErasedEvents], from tracker: any ErasingTracker) {
            for event in events {
                let counted = Erased(tracker: tracker.name, place: event.place, events: event.count)
                if event.isAnonymised { anonymised.append(counted) } else { erased.append(counted) }
            }
        }
    }

    let format: String
    /// A UUID.
    let id: String
    /// Events that were received before this time are erased or anonymised; RFC 3339.
    let requestedAt: String
    /// When everything was erased or anonymised that Sluice erases itself; `nil` until then.
    var finishedAt: String?
    /// Identifies the key of the hashes without revealing it.
    let keyFingerprint: String
    /// Whether events without a user were erased, or anonymised, from devices of several users.
    let includesShared: Bool
    /// Whether events are anonymised instead of deleted where that is possible.
    let anonymises: Bool
    let tombstones: [Entry]
    /// The hashes of the anonymous ids that were seen with several users, and were not erased.
    let sharedDevices: [String]
    var erased: [Erased] = []
    var anonymised: [Erased] = []
    var remains: [Remainder] = []

    /// Creates the receipt of a request that has just been made.
    init(
        users: Set<ExactText>,
        anonymousIDs: Set<ExactText>,
        sharedDevices: Set<ExactText>,
        includesShared: Bool,
        anonymises: Bool,
        requestedAt: Timestamp,
        key: HashKey
    ) {
        func hashes(_ identifiers: Set<ExactText>, _ subject: Tombstone.Subject) -> [String] {
            identifiers.map { key.tombstoneHash(of: $0.text, subject).text }.sorted()
        }
        format = Self.format
        id = UUID().uuidString.lowercased()
        self.requestedAt = requestedAt.description
        keyFingerprint = key.fingerprint
        self.includesShared = includesShared
        self.anonymises = anonymises
        tombstones =
            hashes(users, .user).map { Entry(subject: Tombstone.Subject.user.rawValue, hash: $0) }
            + hashes(anonymousIDs, .anonymous).map { Entry(subject: Tombstone.Subject.anonymous.rawValue, hash: $0) }
        self.sharedDevices = hashes(sharedDevices, .anonymous)
    }

    /// Reads a receipt from JSON.
    ///
    /// - Throws: `Unreadable` if it is none.
    init(json: [UInt8]) throws {
        let receipt: Receipt
        do {
            receipt = try JSONDecoder().decode(Receipt.self, from: Data(json))
        } catch {
            throw Unreadable(description: "it is not a receipt of 'sluice forget'")
        }
        guard receipt.format == Self.format else {
            throw Unreadable(description: "it needs another version of this program")
        }
        guard UUID(uuidString: receipt.id) != nil, Timestamp(receipt.requestedAt) != nil,
            receipt.tombstones.allSatisfy({ Tombstone.Subject(rawValue: $0.subject) != nil })
        else { throw Unreadable(description: "it is not a receipt of 'sluice forget'") }
        self = receipt
    }

    /// Why a file cannot be used.
    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    /// The receipt as JSON.
    var json: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return try Array(encoder.encode(self)) + [UInt8(ascii: "\n")]
        }
    }

    /// The name of its file: receipts sort by the time of their requests.
    var fileName: String {
        let time = requestedAt.filter { $0.isASCII && ($0.isNumber || $0 == "T" || $0 == "Z") }
        return "\(time)-\(id).json"
    }

    /// The time of the request.
    var requestTime: Timestamp { Timestamp(requestedAt) ?? Timestamp(microseconds: .min) }

    /// Whether its hashes were made with this key.
    func isMade(with key: HashKey) -> Bool { keyFingerprint == key.fingerprint }

    /// Its tombstones with their time.
    var datedTombstones: [Tombstone] {
        tombstones.compactMap { entry in
            Tombstone.Subject(rawValue: entry.subject).map {
                Tombstone(subject: $0, hash: entry.hash, requestedAt: requestTime)
            }
        }
    }

    /// What was deleted and what was anonymised.
    var counts: Counts {
        get { Counts(erased: erased, anonymised: anonymised) }
        set { (erased, anonymised) = (newValue.erased, newValue.anonymised) }
    }

    /// The hashes of its users.
    var userHashes: Set<String> {
        Set(tombstones.filter { $0.subject == Tombstone.Subject.user.rawValue }.map(\.hash))
    }
}

/// Where events remain that `sluice forget` does not erase.
struct Remainder: Codable, Hashable {
    /// Who sees to it that they disappear.
    enum Task: String, Codable {
        /// Sluice removes them.
        case sluice
        /// The destination removes them.
        case destination
        /// An operator has to remove them.
        case operatorsTask = "operator"
    }

    /// Where, such as `journal` or the name of a tracker.
    let place: String
    /// What remains there, and what to do about it.
    let note: String
    /// When nothing of it is left; RFC 3339, or `nil` if Sluice cannot know it.
    var until: String?
    let task: Task
}
