internal import EventModel
import EventSchema

/// Reads the nodes of a binary property list.
///
/// The format has no lines, so every place is 1:1 with a key path. Its dictionaries have no order worth keeping, because Foundation
/// writes them in any; the keys are sorted, so that the same file always gives the same plan.
///
/// It does not use Foundation's decoders: a file can refer to one object many times, and they take seconds for what two kilobytes
/// can refer to.
struct BinaryPlistReader {
    private let objects: BinaryPlistObjects
    /// A file whose arrays and dictionaries are referred to once has at least one byte for each node and each key.
    private let maximumNodes: Int
    private var diagnostics: [Diagnostic] = []
    private var nodeCount = 0
    /// The size of all texts so far; a long one may be referred to many times.
    private var textBytes = 0

    /// Reads the bytes of a binary property list; see `PlistReader`.
    static func read(_ bytes: [UInt8], file: String) -> (root: PlistNode?, diagnostics: [Diagnostic]) {
        let location = PlanLocation(file: file, line: 1, column: 1)
        do throws(BinaryPlistDamage) {
            var reader = BinaryPlistReader(
                objects: try BinaryPlistObjects(bytes),
                maximumNodes: min(PlistReader.maximumNodes, bytes.count)
            )
            let root = try reader.node(reader.objects.root, at: PlistPlace(location: location, keyPath: ""), depth: 1)
            return (root, reader.diagnostics)
        } catch {
            let sentence = "not a property list; the binary file is damaged"
            return (nil, [Diagnostic(.malformedPlist, at: location, sentence)])
        }
    }

    private init(objects: BinaryPlistObjects, maximumNodes: Int) {
        self.objects = objects
        self.maximumNodes = maximumNodes
    }

    private mutating func node(
        _ reference: Int,
        at place: PlistPlace,
        depth: Int
    ) throws(BinaryPlistDamage) -> PlistNode {
        var value = PlistValue.unreadable
        if !count(at: place) {
            // Nothing more is read.
        } else if depth > PlistReader.maximumDepth {
            report(.tooDeep, place, PlistReader.tooDeepSentence)
        } else {
            value = try self.value(of: reference, at: place, depth: depth)
        }
        return PlistNode(value: value, place: place)
    }

    private mutating func value(
        of reference: Int,
        at place: PlistPlace,
        depth: Int
    ) throws(BinaryPlistDamage) -> PlistValue {
        switch try objects.object(reference) {
        case .boolean(let boolean): return .boolean(boolean)
        case .integer(let integer): return .integer(integer)
        case .unsigned(let integer):
            report(.integerOverflow, place, "\(integer) does not fit in a 64-bit integer")
            return .unreadable
        case .real(let real):
            // Foundation may write a whole number as a real; plans do not distinguish them.
            return Int64(exactly: real).map { .integer($0) } ?? .real(real)
        case .date(let secondsSince2001):
            if let time = Timestamp(secondsSince2001: secondsSince2001) { return .date(time) }
        case .data: return .data
        case .string(let text): return take(text, at: place) ? .string(text) : .unreadable
        case .array(let references): return .array(try elements(references, at: place, depth: depth))
        case .dictionary(let keys, let values): return .dictionary(try entries(keys, values, at: place, depth: depth))
        case .other: break
        }
        report(.malformedValue, place, "a plan cannot contain a value of this kind")
        return .unreadable
    }

    private mutating func entries(
        _ keys: [Int],
        _ values: [Int],
        at place: PlistPlace,
        depth: Int
    ) throws(BinaryPlistDamage) -> [PlistEntry] {
        var named: [(key: String, value: Int)] = []
        for (key, value) in zip(keys, values) {
            guard count(at: place) else { return [] }
            guard case .string(let text) = try objects.object(key) else { throw BinaryPlistDamage() }
            guard take(text, at: place) else { return [] }
            named.append((text, value))
        }
        named.sort { $0.key < $1.key }
        var entries: [PlistEntry] = []
        for (index, (key, value)) in named.enumerated() where nodeCount <= maximumNodes {
            let below = place.appending(key)
            guard index == 0 || named[index - 1].key != key else {
                report(.duplicateKey, below, "the key \(quoted(key)) is already defined")
                continue
            }
            let node = try node(value, at: below, depth: depth + 1)
            entries.append(PlistEntry(key: PlacedText(text: key, place: below), value: node))
        }
        return entries
    }

    private mutating func elements(
        _ references: [Int],
        at place: PlistPlace,
        depth: Int
    ) throws(BinaryPlistDamage) -> [PlistNode] {
        var nodes: [PlistNode] = []
        for (index, reference) in references.enumerated() where nodeCount <= maximumNodes {
            nodes.append(try node(reference, at: place.appending("[\(index)]"), depth: depth + 1))
        }
        return nodes
    }

    /// Counts a node or a key; false if there are too many, and then nothing more is read.
    private mutating func count(at place: PlistPlace) -> Bool {
        nodeCount += 1
        if nodeCount == maximumNodes + 1 { reportTooManyNodes(at: place) }
        return nodeCount <= maximumNodes
    }

    /// Counts a text; false if there are too many, and then nothing more is read.
    private mutating func take(_ text: String, at place: PlistPlace) -> Bool {
        guard nodeCount <= maximumNodes else { return false }
        textBytes += text.utf8.count
        if textBytes <= PlistReader.maximumBytes { return true }
        nodeCount = maximumNodes + 1
        report(.fileTooLarge, place, Self.sharedSentence)
        return false
    }

    private static let sharedSentence =
        "the file refers to the same objects again and again; convert it to XML, and split the plan into several files"

    private mutating func reportTooManyNodes(at place: PlistPlace) {
        let isShared = maximumNodes < PlistReader.maximumNodes
        report(.fileTooLarge, place, isShared ? Self.sharedSentence : PlistReader.tooManyNodesSentence)
    }

    private mutating func report(_ code: DiagnosticCode, _ place: PlistPlace, _ sentence: String) {
        diagnostics.append(Diagnostic(code, at: place, sentence))
    }
}

extension Timestamp {
    /// Converts a date of a property list; `nil` outside the years 0001 to 9999.
    fileprivate init?(secondsSince2001: Double) {
        let secondsFrom1970To2001 = 978_307_200.0
        let exact = ((secondsSince2001 + secondsFrom1970To2001) * 1_000_000).rounded()
        guard let microseconds = Int64(exactly: exact) else { return nil }
        self.init(microseconds: microseconds, fractionDigits: microseconds % 1_000_000 == 0 ? 0 : 6)
        if self.microseconds != microseconds { return nil }
    }
}
