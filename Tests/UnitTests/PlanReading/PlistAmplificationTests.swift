import Foundation
import PlanReading
import TestCases
import TestPromises
import Testing

/// Small files, and files of the maximum size, that are made to cost a reader much time or memory.
@Suite("Plan files that are made to be expensive", .timeLimit(.minutes(1)))
struct PlistAmplificationTests {
    /// A file and what is reported about it.
    struct Attack: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: @Sendable () -> [UInt8]
        /// The first diagnostic's place and code; `nil` if the file is merely large.
        let found: String?

        init(_ name: String, _ found: String?, _ bytes: @escaping @Sendable () -> [UInt8]) {
            testDescription = name
            self.found = found
            self.bytes = bytes
        }

        init(xml name: String, _ found: String?, _ text: @escaping @Sendable () -> String) {
            self.init(name, found) { Array(text().utf8) }
        }
    }

    private static func property(_ members: String) -> String {
        """
        <plist><dict><key>events</key><dict><key>e</key><dict><key>registeredTrackers</key>
        <array><string>console</string></array><key>payload</key><dict><key>p</key><dict>
        \(members)
        </dict></dict></dict></dict></dict></plist>
        """
    }

    private static func text(_ part: String, _ count: Int) -> String { String(repeating: part, count: count) }

    static let attacks: [Attack] = [
        Attack("a few hundred bytes of arrays that refer to each other", "1:1 file-too-large") {
            BinaryPlist((0..<60).map { .array([$0 + 1, $0 + 1]) } + [.boolean]).bytes
        },
        Attack("two kilobytes of arrays that refer to each other", "1:1 file-too-large") {
            BinaryPlist((0..<50).map { .array([$0 + 1, $0 + 1]) } + [.boolean, .string(1_500)]).bytes
        },
        Attack("an array that contains itself", "1:1 too-deep") {
            BinaryPlist([.array([0])] + Array(repeating: .boolean, count: 100)).bytes
        },
        Attack("a long string that is referred to often", "1:1 file-too-large") {
            BinaryPlist([.array(Array(repeating: 1, count: 50_000)), .string(1_000_000)]).bytes
        },
        Attack("a long key that is referred to often", "1:1 file-too-large") {
            BinaryPlist([.dictionary(Array(repeating: (1, 2), count: 50_000)), .string(1_000_000), .boolean]).bytes
        },
        Attack("a long key above many values", "1:1 unknown-key") {
            let values = Array(repeating: 3, count: 100_000)
            return BinaryPlist([.dictionary([(1, 2)]), .string(1_000_000), .array(values), .boolean]).bytes
        },
        Attack("a dictionary with the same short key often, that is referred to often", "1:1 duplicate-key") {
            let often = Array(repeating: 1, count: 5_000)
            let entries = Array(repeating: (2, 3), count: 2_500)
            return BinaryPlist([.array(often), .dictionary(entries), .string(0), .boolean]).bytes
        },
        Attack("many binary nodes", "1:1 file-too-large") {
            BinaryPlist([.array(Array(repeating: 1, count: 300_000)), .boolean]).bytes
        },
        Attack(xml: "a tag with many attributes", "1:1 malformed-plist") {
            "<plist " + (0..<200_000).map { "a\($0)=\"\"" }.joined(separator: " ") + "><dict/></plist>"
        },
        Attack(xml: "a tag with many attributes, the first with a quoted >", "1:1 malformed-plist") {
            "<plist a=\">\" " + (0..<200_000).map { "a\($0)='>'" }.joined(separator: " ") + "><dict/></plist>"
        },
        Attack(xml: "a tag with many namespaces", "2:3 malformed-plist") {
            "<plist>\n  <dict " + (0..<100_000).map { "xmlns:a\($0)=\"b\"" }.joined(separator: " ") + "/></plist>"
        },
        Attack(xml: "a long attribute", "2:1 malformed-plist") {
            "<plist>\n<dict a=\"\(text("x", 1 << 20))\"/></plist>"
        },
        Attack(xml: "a long name of an element", "1:8 malformed-plist") { "<plist><\(text("x", 1 << 20))/></plist>" },
        Attack(xml: "a long end tag", "2:1 malformed-plist") { "<plist><dict>\n</\(text("x", 1 << 20))></plist>" },
        Attack(xml: "deep nesting", "1:456 too-deep") { "<plist>\(text("<array>", 200_000))" },
        Attack(xml: "entities that expand to each other", "1:17 unsafe-doctype") {
            let entities = (1..<40).map { "<!ENTITY e\($0) \"\(text("&e\($0 - 1);", 10))\">" }.joined()
            return "<!DOCTYPE plist [<!ENTITY e0 \"x\">\(entities)]><plist><string>&e39;</string></plist>"
        },
        Attack(xml: "a huge integer", "4:19 integer-overflow") {
            property(
                "<key>type</key><string>integer</string>\n<key>minimum</key><integer>\(text("9", 1 << 20))</integer>"
            )
        },
        Attack(xml: "a long text of references", nil) {
            property(
                "<key>type</key><string>string</string><key>description</key><string>\(text("&amp;", 200_000))</string>"
            )
        },
        Attack(xml: "many CDATA sections", nil) {
            property(
                "<key>type</key><string>string</string><key>description</key><string>"
                    + text("<![CDATA[x]]>", 100_000) + "</string>"
            )
        },
        Attack(xml: "a long comment", nil) {
            property("<key>type</key><string>string</string><!-- \(text("x", 2 << 20)) -->")
        },
        Attack(xml: "many comments", nil) {
            property("<key>type</key><string>string</string>" + text("<!---->", 200_000))
        },
        Attack(xml: "many unknown keys", "2:64 missing-key") {
            property((0..<10_000).map { "<key>\(text("k", 50))\($0)</key><true/>" }.joined())
        },
        Attack(xml: "a long pattern", "") {
            property(
                "<key>type</key><string>string</string><key>pattern</key><string>\(text("(a|b)", 100_000))</string>"
            )
        },
        Attack(xml: "a pattern with nested repetitions", "") {
            let pattern = "((((((a{1,100}){1,100}){1,100}){1,100}){1,100}){1,100})"
            return property("<key>type</key><string>string</string><key>pattern</key><string>\(pattern)</string>")
        },
    ]

    @Test(
        "they are read or refused within seconds, and the first diagnostic says where",
        .promise("invalid-plan"),
        arguments: attacks
    )
    func read(attack: Attack) {
        let bytes = attack.bytes()
        let report = PlanReader().read([PlanSource(file: "a.plist", bytes: bytes)])
        switch attack.found {
        case nil: #expect(report.errorCount == 0, "\(report.diagnostics.prefix(3))")
        case ""?: #expect(report.diagnostics.count < 10)
        case let found?: #expect(report.places.first == found)
        }
        #expect(report.diagnostics.reduce(0) { $0 + $1.description.utf8.count } < 16 << 20)
    }
}

/// A binary property list of these objects, of which the first is the root.
private struct BinaryPlist {
    enum Object {
        case boolean
        /// A string of this many characters.
        case string(Int)
        case array([Int])
        case dictionary([(key: Int, value: Int)])
    }

    let bytes: [UInt8]

    init(_ objects: [Object]) {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        func head(_ kind: UInt8, _ count: Int) -> [UInt8] { [kind << 4 | 0x0F, 0x12] + number(count, 4) }
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += number(bytes.count, 4)
            switch object {
            case .boolean: bytes.append(0x09)
            case .string(let count): bytes += head(0x5, count) + Array(repeating: UInt8(ascii: "k"), count: count)
            case .array(let references): bytes += head(0xA, references.count) + references.flatMap { number($0, 2) }
            case .dictionary(let entries):
                bytes += head(0xD, entries.count) + entries.flatMap { number($0.key, 2) }
                bytes += entries.flatMap { number($0.value, 2) }
            }
        }
        let table = bytes.count
        self.bytes =
            bytes + offsets + [0, 0, 0, 0, 0, 0, 4, 2] + number(objects.count, 8) + number(0, 8) + number(table, 8)
    }
}
