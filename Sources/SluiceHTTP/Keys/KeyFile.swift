import EventModel

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The file that contains the write keys, as `sluice keys` writes it.
///
/// It is JSON: an object with the array `keys`. It contains digests of keys, and no keys.
public enum KeyFile {
    /// Why a file with keys cannot be used.
    public struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
        /// One sentence for the operator.
        public let message: String

        /// The sentence.
        public var description: String { message }
    }

    private struct File: Codable {
        var keys: [Key]
    }

    private struct Key: Codable {
        enum CodingKeys: String, CodingKey, CaseIterable {
            case name, values, events, eventsPerSecond, burst, eventsPerDay, origins
        }

        var name: String
        var values: [Value]
        var events: [String]?
        var eventsPerSecond: Int?
        var burst: Int?
        var eventsPerDay: Int?
        var origins: [String]?
    }

    private struct Value: Codable {
        enum CodingKeys: String, CodingKey, CaseIterable {
            case sha256, created, expires
        }

        var sha256: String
        var created: String
        var expires: String?
    }

    /// Reads the keys from the bytes of a file.
    ///
    /// - Throws: `Problem` if it is not such a file. Whether keys are valid is decided when they are used.
    public static func keys(from bytes: [UInt8]) throws(Problem) -> [WriteKey] {
        let file: File
        do {
            file = try JSONDecoder().decode(File.self, from: Data(bytes))
            let members = try JSONDecoder().decode(Members.self, from: Data(bytes))
            if let unknown = members.unknown { throw Problem(message: "It has an unknown member '\(unknown)'.") }
        } catch let problem as Problem {
            throw problem
        } catch let error as DecodingError {
            throw Problem(message: "It is damaged, or not a file of 'sluice keys': \(reason(of: error)).")
        } catch {
            throw Problem(message: "It cannot be decoded: \(error)")
        }
        var keys: [WriteKey] = []
        for key in file.keys {
            var values: [WriteKey.Value] = []
            for value in key.values {
                guard let created = Timestamp(value.created), let expires = time(value.expires) else {
                    throw Problem(message: "The key '\(key.name)' has a time that is not one of RFC 3339.")
                }
                values.append(WriteKey.Value(digest: value.sha256, created: created, expires: expires))
            }
            keys.append(
                WriteKey(
                    name: key.name,
                    values: values,
                    events: key.events,
                    limits: WriteKey.Limits(
                        eventsPerSecond: key.eventsPerSecond,
                        burst: key.burst,
                        eventsPerDay: key.eventsPerDay
                    ),
                    origins: key.origins ?? []
                )
            )
        }
        return keys
    }

    /// The bytes of a file; `nil` if it does not exist.
    package static func contents(of path: String) throws(Problem) -> [UInt8]? {
        do throws(RegularFile.Failure) {
            return try RegularFile.contents(given: path)
        } catch {
            if error.isMissing { return nil }
            throw Problem(message: "It cannot be read: \(error).")
        }
    }

    private static func reason(of error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\(place(context.codingPath + [key])) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "\(place(context.codingPath)) has another type than it should"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty ? "it is not JSON" : "\(place(context.codingPath)) is invalid"
        @unknown default: "\(error)"
        }
    }

    /// The place of a value: `keys[0].values[1].sha256`.
    private static func place(_ path: [any CodingKey]) -> String {
        guard !path.isEmpty else { return "the document" }
        let steps = path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }
        return "'\(steps.joined().drop { $0 == "." })'"
    }

    /// The names of members, which the decoder ignores if it does not know them: a misspelt limit would be none.
    private struct Members: Decodable {
        struct AnyKey: CodingKey {
            let stringValue: String
            let intValue: Int? = nil

            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        /// The first unknown name.
        let unknown: String?

        init(from decoder: any Decoder) throws {
            let file = try decoder.container(keyedBy: AnyKey.self)
            var names = Set(file.allKeys.map(\.stringValue)).subtracting(["keys"])
            var keys = try file.nestedUnkeyedContainer(forKey: AnyKey(stringValue: "keys"))
            while !keys.isAtEnd {
                let key = try keys.nestedContainer(keyedBy: AnyKey.self)
                names.formUnion(
                    Set(key.allKeys.map(\.stringValue)).subtracting(Key.CodingKeys.allCases.map(\.rawValue))
                )
                var values = try key.nestedUnkeyedContainer(forKey: AnyKey(stringValue: "values"))
                while !values.isAtEnd {
                    let value = try values.nestedContainer(keyedBy: AnyKey.self)
                    names.formUnion(
                        Set(value.allKeys.map(\.stringValue)).subtracting(Value.CodingKeys.allCases.map(\.rawValue))
                    )
                }
            }
            unknown = names.min()
        }
    }

    /// The bytes of a file with these keys.
    public static func bytes(of keys: [WriteKey]) -> [UInt8] {
        let file = File(
            keys: keys.map { key in
                Key(
                    name: key.name,
                    values: key.values.map {
                        Value(sha256: $0.digest, created: "\($0.created)", expires: $0.expires.map { "\($0)" })
                    },
                    events: key.events,
                    eventsPerSecond: key.limits.eventsPerSecond,
                    burst: key.limits.burst,
                    eventsPerDay: key.limits.eventsPerDay,
                    origins: key.origins.isEmpty ? nil : key.origins
                )
            }
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers can always be encoded.
        let data = (try? encoder.encode(file)) ?? Data()
        return Array(data) + [UInt8(ascii: "\n")]
    }

    /// A time that may be absent; `nil` if it is malformed.
    private static func time(_ text: String?) -> Timestamp?? {
        guard let text else { return .some(nil) }
        return Timestamp(text).map { .some($0) }
    }
}
