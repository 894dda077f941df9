/// The names that JustTrack's own generator gave, so that code which uses them need not change.
package enum JustTrackName {
    /// The class of an event: `view_screen` becomes `EventViewScreen`.
    package static func eventClass(_ key: String) -> String { "Event" + capitalized(joined(key)) }

    /// The struct of an object: `testObject` becomes `TestObject`.
    package static func object(_ name: String) -> String { SwiftName.escaped(capitalized(joined(name))) }

    /// The property of a key: `screenData_var` becomes `screenDataVar`, and what begins with a capital keeps it.
    package static func member(_ key: String) -> String { SwiftName.escaped(joined(key)) }

    /// The constant with a key: `kScreenName`.
    package static func constant(_ key: String) -> String { "k" + capitalized(joined(key)) }

    /// White space goes; at every other sign that is no letter and no digit, the next letter becomes a capital.
    private static func joined(_ name: String) -> String {
        let words = name.filter { !$0.isWhitespace }.split(omittingEmptySubsequences: false) {
            !($0.isLetter || $0.isNumber)
        }
        let joined = words.enumerated().map { $0 == 0 ? String($1) : capitalized(String($1)) }.joined()
        guard let first = joined.unicodeScalars.first else { return "_" }
        return first.properties.isXIDStart ? joined : "_" + joined
    }

    private static func capitalized(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }
}
