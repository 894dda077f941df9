import EventSchema
import Foundation
import PlanReading
import TestCases
import Testing

/// The reader must not crash on damaged plans; the fuzz targets run the same check for longer.
@Suite("Damaged plan files")
struct MutationTests {
    private static let xml = Array(
        PlanFixture.root(
            """
            <!-- a plan -->
            <key>trackers</key> <array><string>console</string></array>
            <key>propertyGroups</key> <dict><key>g</key><dict><key>x</key><string>uuid</string></dict></dict>
            <key>events</key>
            <dict><key>e</key> <dict>
            <key>registeredTrackers</key> <array><string>console</string></array>
            <key>include</key> <array><string>g</string></array>
            <key>payload</key> <dict>
            <key>p</key> <dict><key>type</key><string>integer</string><key>minimum</key><integer>1</integer>
            <key>enum</key><array><integer>1</integer><real>2.0</real></array></dict>
            <key>q</key> <dict><key>type</key><string>string</string><key>pattern</key><string><![CDATA[^a+$]]></string>
            <key>examples</key><array><string>aaa&amp;</string></array><key>required</key><false/></dict></dict></dict>
            <key>f</key> <dict><key>payloadKeys</key> <array><string>k</string><dict><key>name</key><string>o</string>
            <key>objectPayloadKeys</key><array><string>n_int</string></array></dict></array></dict></dict>
            """
        ).xml.utf8
    )

    private static func binary() throws -> [UInt8] {
        let root = try PropertyListSerialization.propertyList(from: Data(xml), options: [], format: nil)
        return Array(try PropertyListSerialization.data(fromPropertyList: root, format: .binary, options: 0))
    }

    /// Flips, deletes, repeats and swaps pieces of the bytes.
    private func mutate(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let start = Int.random(in: 0..<bytes.count, using: &random)
            let end = min(bytes.count, start + Int.random(in: 1...20, using: &random))
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[start] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.removeSubrange(start..<end)
            case 2: bytes.insert(contentsOf: bytes[start..<end], at: Int.random(in: 0...bytes.count, using: &random))
            case 3: bytes.swapAt(start, Int.random(in: 0..<bytes.count, using: &random))
            default: bytes.removeLast(bytes.count - start)
            }
        }
        return bytes
    }

    private func read(mutationsOf bytes: [UInt8], count: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<count {
            let mutated = mutate(bytes, &random)
            let lines = mutated.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let reading = PlanReader().read([PlanSource(file: "m.plist", bytes: mutated)])
            #expect((reading.plan == nil) == (reading.errorCount > 0))
            for diagnostic in reading.diagnostics {
                #expect(diagnostic.location.line >= 1 && diagnostic.location.column >= 1)
                let carriageReturns = mutated.count { $0 == UInt8(ascii: "\r") }
                #expect(diagnostic.location.line <= lines.count + carriageReturns)
                #expect(!diagnostic.description.contains("\n"))
            }
        }
    }

    @Test("no mutation of an XML plan crashes the reader", arguments: 0..<8)
    func xml(seed: Int) {
        read(mutationsOf: Self.xml, count: 250, seed: UInt64(seed))
    }

    @Test("no mutation of a binary plan crashes the reader", arguments: 0..<8)
    func binary(seed: Int) throws {
        read(mutationsOf: try Self.binary(), count: 250, seed: UInt64(seed))
    }

    @Test("no prefix of a plan crashes the reader")
    func prefixes() throws {
        for bytes in [Self.xml, try Self.binary()] {
            for end in stride(from: 0, to: bytes.count, by: 3) {
                let reading = PlanReader().read([PlanSource(file: "m.plist", bytes: Array(bytes[..<end]))])
                #expect(reading.plan == nil || end >= bytes.count - 1)
            }
        }
    }
}
