extension CursorFile {
    private static let suffix = ".cursor"

    /// The file of a tracker's cursor.
    package static func name(ofTracker tracker: String) -> String {
        spelling(ofTracker: tracker) + suffix
    }

    /// A tracker's name as a part of a path: in lower case, what is no letter or digit as its code.
    package static func spelling(ofTracker tracker: String) -> String {
        let spelt = tracker.lowercased().unicodeScalars.map { scalar in
            switch scalar {
            case "a"..."z", "0"..."9", "-": String(scalar)
            default: "_" + String(scalar.value, radix: 16) + "_"
            }
        }
        return spelt.joined()
    }

    /// The tracker whose cursor a file is, in lower case; `nil` where it is no cursor's.
    package static func tracker(ofName name: String) -> String? {
        guard name.hasSuffix(suffix) else { return nil }
        // A code stands between two underscores: every second part is one.
        let parts = name.dropLast(suffix.count).split(separator: "_", omittingEmptySubsequences: false)
        var tracker = String.UnicodeScalarView()
        for (index, part) in parts.enumerated() {
            if index % 2 == 0 {
                tracker.append(contentsOf: part.unicodeScalars)
            } else if let scalar = UInt32(part, radix: 16).flatMap(Unicode.Scalar.init) {
                tracker.append(scalar)
            }
        }
        let text = String(tracker)
        return self.name(ofTracker: text) == name ? text : nil
    }

    /// Removes a tracker's cursor for good; false where it has none.
    package static func forget(tracker: String, in files: any FileSystem) throws(FileError) -> Bool {
        let name = name(ofTracker: tracker)
        guard try files.names().contains(name) else { return false }
        try files.remove(name)
        try files.syncFolder()
        return true
    }
}
