/// The keys of a dictionary that are known to mean something, each with its value.
struct Fields {
    /// Where a problem of the dictionary itself is reported.
    let place: PlistPlace
    private let entries: [String: PlistEntry]

    init(_ entries: [PlistEntry], place: PlistPlace) {
        self.place = place
        self.entries = Dictionary(entries.map { ($0.key.text, $0) }) { first, _ in first }
    }

    subscript(key: String) -> PlistEntry? { entries[key] }
}
