internal import EventModel
import EventSchema

/// A node of a property list with its place, of either format.
struct PlistNode: Sendable, Hashable {
    var value: PlistValue
    var place: PlistPlace
}

/// What a node of a property list holds.
enum PlistValue: Sendable, Hashable {
    case string(String)
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    case date(Timestamp)
    case data
    case array([PlistNode])
    case dictionary([PlistEntry])
    /// A node that has already been reported, so that it is not reported again.
    case unreadable

    /// What kind of node it is, with its article, for sentences.
    var kind: String {
        switch self {
        case .string: "a string"
        case .integer: "an integer"
        case .real: "a real"
        case .boolean: "a boolean"
        case .date: "a date"
        case .data: "data"
        case .array: "an array"
        case .dictionary: "a dictionary"
        case .unreadable: "unreadable"
        }
    }
}

/// A key of a dictionary and its value.
struct PlistEntry: Sendable, Hashable {
    var key: PlacedText
    var value: PlistNode
}

/// A text with its place.
struct PlacedText: Sendable, Hashable {
    var text: String
    var place: PlistPlace
}

/// The place of a node: its line and column in XML, its key path in a binary file, which has no lines.
struct PlistPlace: Sendable, Hashable {
    private static let maximumPathBytes = 1024
    private static let maximumComponentBytes = 256

    var location: PlanLocation
    /// The keys that lead to the node; `nil` in XML.
    var keyPath: String?

    /// The place of a dictionary's value or of an array's element below this one.
    ///
    /// A long key, or a long path, is cut off: each of many nodes below it has a copy.
    func appending(_ component: String) -> PlistPlace {
        guard let keyPath, keyPath.utf8.count <= Self.maximumPathBytes else { return self }
        let component = component.utf8.count <= Self.maximumComponentBytes ? component : printable(component)
        let separator = keyPath.isEmpty || component.hasPrefix("[") ? "" : "."
        return PlistPlace(location: location, keyPath: keyPath + separator + component)
    }
}

extension Diagnostic {
    /// States a problem of a node; in a binary file, the sentence ends with the key path.
    init(_ code: DiagnosticCode, at place: PlistPlace, _ sentence: String) {
        let path = place.keyPath.map { $0.isEmpty ? ", at the root" : ", at \(quoted($0))" } ?? ""
        self.init(code, at: place.location, sentence + path)
    }
}
