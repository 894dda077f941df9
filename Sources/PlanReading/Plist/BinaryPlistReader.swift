internal import EventModel
import EventSchema
internal import Foundation

/// Reads the nodes of a binary property list with Foundation's decoder.
///
/// The format has no lines, so every place is 1:1 with a key path. Foundation keeps neither the order of a dictionary's
/// keys nor duplicate keys; the keys are sorted, so that the same file always gives the same plan.
///
/// It does not use `PropertyListSerialization`: a file can refer to one object many times, and the decoder reads only what
/// it is asked for, while `PropertyListSerialization` expands everything before the nodes can be counted.
struct BinaryPlistReader {
    private var diagnostics: [Diagnostic] = []
    private var nodeCount = 0

    /// Reads the bytes of a binary property list; see `PlistReader`.
    static func read(_ bytes: [UInt8], file: String) -> (root: PlistNode?, diagnostics: [Diagnostic]) {
        do {
            let document = try PropertyListDecoder().decode(Document.self, from: Data(bytes), configuration: file)
            return (document.root, document.diagnostics)
        } catch {
            let location = PlanLocation(file: file, line: 1, column: 1)
            let sentence = "not a property list; the binary file is damaged"
            return (nil, [Diagnostic(.malformedPlist, at: location, sentence)])
        }
    }

    /// Reads the whole tree during decoding, because the decoder is not available afterwards.
    private struct Document: DecodableWithConfiguration {
        let root: PlistNode
        let diagnostics: [Diagnostic]

        init(from decoder: any Decoder, configuration file: String) throws {
            let place = PlistPlace(location: PlanLocation(file: file, line: 1, column: 1), keyPath: "")
            var reader = BinaryPlistReader()
            root = try reader.node(decoder, at: place, depth: 1)
            diagnostics = reader.diagnostics
        }
    }

    private mutating func node(_ decoder: any Decoder, at place: PlistPlace, depth: Int) throws -> PlistNode {
        nodeCount += 1
        var value = PlistValue.unreadable
        if nodeCount > PlistReader.maximumNodes {
            if nodeCount == PlistReader.maximumNodes + 1 {
                report(.fileTooLarge, place, PlistReader.tooManyNodesSentence)
            }
        } else if depth > PlistReader.maximumDepth {
            report(.tooDeep, place, PlistReader.tooDeepSentence)
        } else if let container = try? decoder.unkeyedContainer() {
            value = .array(try elements(container, at: place, depth: depth))
        } else if let container = try? decoder.container(keyedBy: Key.self) {
            value = .dictionary(try entries(container, at: place, depth: depth))
        } else {
            value = scalar(try decoder.singleValueContainer(), at: place)
        }
        return PlistNode(value: value, place: place)
    }

    private mutating func entries(
        _ container: KeyedDecodingContainer<Key>,
        at place: PlistPlace,
        depth: Int
    ) throws -> [PlistEntry] {
        var entries: [PlistEntry] = []
        for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue })
        where nodeCount <= PlistReader.maximumNodes {
            let below = place.appending(key.stringValue)
            let node = try node(try container.superDecoder(forKey: key), at: below, depth: depth + 1)
            entries.append(PlistEntry(key: PlacedText(text: key.stringValue, place: below), value: node))
        }
        return entries
    }

    private mutating func elements(
        _ container: any UnkeyedDecodingContainer,
        at place: PlistPlace,
        depth: Int
    ) throws -> [PlistNode] {
        var container = container
        var nodes: [PlistNode] = []
        while !container.isAtEnd, nodeCount <= PlistReader.maximumNodes {
            let below = place.appending("[\(nodes.count)]")
            nodes.append(try node(try container.superDecoder(), at: below, depth: depth + 1))
        }
        return nodes
    }

    /// The decoder reads a whole number as an integer even if it was written as a real; plans do not distinguish them.
    private mutating func scalar(_ container: any SingleValueDecodingContainer, at place: PlistPlace) -> PlistValue {
        if let boolean = try? container.decode(Bool.self) { return .boolean(boolean) }
        if let integer = try? container.decode(Int64.self) { return .integer(integer) }
        if let unsigned = try? container.decode(UInt64.self) {
            report(.integerOverflow, place, "\(unsigned) does not fit in a 64-bit integer")
            return .unreadable
        }
        if let real = try? container.decode(Double.self), real.isFinite { return .real(real) }
        if let text = try? container.decode(String.self) { return .string(text) }
        if let date = try? container.decode(Date.self), let time = Timestamp(date) { return .date(time) }
        if (try? container.decode(Data.self)) != nil { return .data }
        report(.malformedValue, place, "a plan cannot contain a value of this kind")
        return .unreadable
    }

    private mutating func report(_ code: DiagnosticCode, _ place: PlistPlace, _ sentence: String) {
        diagnostics.append(Diagnostic(code, at: place, sentence))
    }

    /// A key of any name.
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) { nil }
    }
}

extension Timestamp {
    /// Converts a date; `nil` outside the years 0000 to 9999.
    fileprivate init?(_ date: Date) {
        guard let microseconds = Int64(exactly: (date.timeIntervalSince1970 * 1_000_000).rounded()) else { return nil }
        self.init(microseconds: microseconds, fractionDigits: microseconds % 1_000_000 == 0 ? 0 : 6)
        if self.microseconds != microseconds { return nil }
    }
}
