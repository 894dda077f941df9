import SluiceFile
import Testing

@Suite("Names of events in paths")
struct NamePartTests {
    @Test("usual names stay as they are", arguments: ["Order Placed", "order_placed", "order.placed-2", "A", "x y.z"])
    func usual(name: String) {
        #expect(NamePart.encoded(name, maximumBytes: 200) == name)
    }

    /// Texts that could leave a folder, hide a file, or confuse a shell or another system.
    static let unusual: KeyValuePairs<String, String> = [
        "": "%", ".": "%2E", "..": "%2E%2E", ".hidden": "%2Ehidden", "end.": "end%2E", " ": "%20", " a ": "%20a%20",
        "a/b": "a%2Fb", "../../etc/passwd": "%2E.%2F..%2Fetc%2Fpasswd", "a\\b": "a%5Cb", "a\0b": "a%00b",
        "a\nb": "a%0Ab", "\u{7F}": "%7F", "a:b": "a%3Ab", "a*?\"<>|": "a%2A%3F%22%3C%3E%7C", "~root": "%7Eroot",
        "$(x)`y`": "%24%28x%29%60y%60", "100 %": "100 %25", "%2F": "%252F", "a+2": "a%2B2", "a@b@": "a%40b%40",
        "{event}": "%7Bevent%7D", "é": "%C3%A9", "e\u{301}": "e%CC%81", "日本": "%E6%97%A5%E6%9C%AC",
    ]

    @Test("every other byte is encoded", arguments: unusual.map(\.key))
    func encoded(name: String) {
        let wanted = Self.unusual.first { $0.key.utf8.elementsEqual(name.utf8) }?.value
        #expect(NamePart.encoded(name, maximumBytes: 200) == wanted)
    }

    @Test("no byte leads to a name that is empty, begins with a dot, or has a separator or a control character")
    func everyByte() {
        for scalar in (0..<0x250).compactMap(UnicodeScalar.init) {
            for text in ["\(scalar)", "a\(scalar)", "\(scalar)a", "\(scalar)\(scalar)\(scalar)"] {
                let name = NamePart.encoded(text, maximumBytes: 200)
                #expect(!name.isEmpty && name.utf8.first != UInt8(ascii: "."), "\(text.debugDescription)")
                #expect(name.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "/") })
            }
        }
    }

    @Test("a name that is too long is shortened, and stays different from all others")
    func shortened() {
        let names =
            (0..<100).map { String(repeating: "long ", count: 60) + "\($0)" } + [String(repeating: "/", count: 300)]
        for maximum in [32, 33, 34, 200] {
            let parts = names.map { NamePart.encoded($0, maximumBytes: maximum) }
            #expect(Set(parts).count == names.count)
            #expect(parts.allSatisfy { $0.utf8.count <= maximum && $0.utf8.count > maximum - 4 })
            // A shortened name is never that of another event, or a number.
            #expect(parts.allSatisfy { $0.firstMatch(of: /\+[0-9a-f]{16}$/) != nil })
            // No escape is cut in the middle.
            #expect(parts.last?.firstMatch(of: /^(%2F)+\+/) != nil)
        }
        #expect(NamePart.encoded(String(repeating: "a", count: 200), maximumBytes: 200).utf8.allSatisfy { $0 == 97 })
    }

    @Test("different names have different parts")
    func different() {
        let characters = ["a", ".", " ", "/", "%", "+", "2", "é", "\0"]
        let names = characters.flatMap { first in
            characters.flatMap { second in characters.map { first + second + $0 } + [first + second] } + [first]
        }
        #expect(Set(names.map { NamePart.encoded($0, maximumBytes: 200) }).count == names.count)
    }
}
