/// The names that JustTrack's own generator produced, so that code that uses them compiles unchanged.
package enum JustTrackName {
    /// Suffixes that state the type of a name and are not part of it.
    private static let suffixes = ["_int", "_double", "_bool"]

    /// The class of an event: `view_screen` becomes `EventViewScreen`.
    package static func eventClass(_ key: String) -> String { "Event" + capitalized(joined(key)) }

    /// The struct of an object: `testObject` becomes `TestObject`.
    package static func object(_ name: String) -> String { SwiftName.escaped(capitalized(joined(name))) }

    /// The property of a key: `screenData_var` becomes `screenDataVar`, and a capital first letter stays.
    ///
    /// `self` gets an underscore; what JustTrack generated for it did not compile.
    package static func member(_ key: String) -> String { property(joined(key)) }

    /// The property of a key inside an object: as `member`, with the first letter in lower case.
    package static func objectMember(_ key: String) -> String {
        let name = joined(key)
        return property(name.prefix(1).lowercased() + name.dropFirst())
    }

    private static func property(_ name: String) -> String { name == "self" ? "self_" : SwiftName.escaped(name) }

    /// The constant with a key: `kScreenName`.
    package static func constant(_ key: String) -> String { "k" + capitalized(joined(key)) }

    /// Removes white space, a suffix, and every other character that is neither a letter nor a digit; the letter after such a
    /// character becomes a capital unless the word equals the first one, as in JustTrack.
    private static func joined(_ name: String) -> String {
        var name = name.filter { !$0.isWhitespace }
        if let suffix = suffixes.first(where: name.hasSuffix) { name.removeLast(suffix.count) }
        let words = name.split(omittingEmptySubsequences: false) { !($0.isLetter || $0.isNumber) }
        let joined = words.map { $0 == words.first ? String($0) : capitalized(String($0)) }.joined()
        guard let first = joined.unicodeScalars.first else { return "_" }
        return first.properties.isXIDStart ? joined : "_" + joined
    }

    private static func capitalized(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }
}
