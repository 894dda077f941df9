import JSONTape
import Testing

@Suite("The structure of a text, found without parsing")
struct JSONStructureTests {
    /// The members of the object that the text is; `nil` if it is malformed.
    private static func members(_ text: String) -> [String]? {
        var indexer = JSONIndexer()
        return withPadded(text.utf8) { bytes in
            guard let structure = indexer.index(bytes), let root = structure.root else { return nil }
            var members: [String] = []
            let isObject = structure.forEachMember(of: root) { key, value in
                let text = String(decoding: structure.bytes(of: value), as: UTF8.self)
                members.append("\(String(decoding: key, as: UTF8.self))=\(text)")
            }
            return isObject ? members : nil
        }
    }

    /// The elements of the array that the text is; `nil` if it is malformed.
    private static func elements(_ text: String) -> [String]? {
        var indexer = JSONIndexer()
        return withPadded(text.utf8) { bytes in
            guard let structure = indexer.index(bytes), let root = structure.root else { return nil }
            var elements: [String] = []
            let isArray = structure.forEachElement(of: root) { value in
                elements.append(String(decoding: structure.bytes(of: value), as: UTF8.self))
            }
            return isArray ? elements : nil
        }
    }

    @Test(
        "an object has its members, without white space around them",
        arguments: [
            ("{}", []), (" { } ", []), (#"{"a":1}"#, ["a=1"]), (#"{ "a" : 1 , "b":"x" }"#, ["a=1", #"b="x""#]),
            (#"{"a":{"b":[1,{}]},"c":[]}"#, [#"a={"b":[1,{}]}"#, "c=[]"]), (#"{"a,b":"}]\"{"}"#, [#"a,b="}]\"{""#]),
            (#"{"a":NaN,"b":-Infinity}"#, ["a=NaN", "b=-Infinity"]), (#"{"a":1,"a":2}"#, ["a=1", "a=2"]),
        ] as [(String, [String])]
    )
    func objects(text: String, members: [String]) {
        #expect(Self.members(text) == members)
    }

    @Test(
        "an object that is not closed, or in which a key, colon, comma or value is missing, is malformed",
        arguments: [
            "", " ", "{", "[]", "1", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a":1"b":2}"#, "{1:2}", #"{"a":1}}"#,
            #"{"a":1} x"#, #"{"a":[1}"#, #"{"a" 1}"#, #"{,"a":1}"#, #"{"a":1 2}"#, #"{"a":"b}"#, "{\"a\":\"\n\"}",
        ]
    )
    func malformedObjects(text: String) {
        #expect(Self.members(text) == nil)
    }

    @Test(
        "an array has the elements that a scan of the text finds",
        arguments: ["[]", "[1, {\"a\":[2]} ,\"]\" ]", "[[],[[]]]"]
    )
    func arrays(text: String) {
        #expect(Self.elements(text) == JSONElementsTests.elements(text))
        #expect(Self.elements(text) != nil)
    }

    @Test(
        "an array with a missing or an additional comma is malformed",
        arguments: ["[1,]", "[,1]", "[1 2]", "[", "{}"]
    )
    func malformedArrays(text: String) {
        #expect(Self.elements(text) == nil)
    }

    @Test("a text that is not UTF-8 has no structure")
    func encoding() {
        var indexer = JSONIndexer()
        withPadded([0x22, 0xFF, 0x22]) { bytes in #expect(indexer.index(bytes) == nil) }
    }
}
