import EventSchema

/// The way to a property through objects and arrays.
struct PropertyPath: Sendable, Hashable {
    /// `lines[].price`; empty for the payload itself.
    private(set) var text = ""
    /// How many objects and arrays are around it; a property of the payload itself has 1.
    private(set) var depth = 0

    /// Whether the property is one of the payload's own, which have columns.
    var hasColumn: Bool { depth == 1 }

    /// The property of an object.
    func property(_ name: String) -> PropertyPath {
        PropertyPath(text: text.isEmpty ? printable(name) : "\(text).\(printable(name))", depth: depth + 1)
    }

    /// The items of an array.
    var items: PropertyPath { PropertyPath(text: text + "[]", depth: depth + 1) }
}
