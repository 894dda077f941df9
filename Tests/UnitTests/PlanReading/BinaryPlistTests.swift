import EventSchema
import Foundation
import PlanReading
import TestCases
import Testing

@Suite("Binary property lists")
struct BinaryPlistTests {
    private func read(_ root: [String: Any]) throws -> PlanReport {
        let data = try PropertyListSerialization.data(fromPropertyList: root, format: .binary, options: 0)
        return PlanReader().read([PlanSource(file: "b.plist", bytes: Array(data))])
    }

    private func event(_ property: Any) -> [String: Any] {
        ["events": ["e": ["registeredTrackers": ["console"], "payload": ["p": property]]]]
    }

    @Test("a binary file gives the same plan as the XML")
    func samePlan() throws {
        let reading = try read(event(["type": "integer", "minimum": 1, "required": false]))
        #expect(reading.diagnostics == [])
        let property = try #require(reading.firstProperty)
        #expect(property.type == .integer && !property.isRequired)
        #expect(property.minimum == .integer(1))
        #expect(property.location == PlanLocation(file: "b.plist", line: 1, column: 1))
    }

    @Test("a diagnostic for a binary file names the key path, because there are no lines")
    func keyPath() throws {
        let reading = try read(event(["type": "strng", "examples": ["a"]]))
        #expect(
            reading.diagnostics.map(\.description) == [
                """
                b.plist:1:1: error: unknown type 'strng'; did you mean 'string'?, at 'events.e.payload.p.type' \
                [unknown-type]
                """
            ]
        )
    }

    @Test("Booleans and numbers are distinguished")
    func booleans() throws {
        let asBoolean = try read(event(["type": "integer", "minimum": true]))
        #expect(asBoolean.diagnostics.map(\.code) == [.badLimit])
        let asInteger = try read(event(["type": "string", "required": 1]))
        #expect(asInteger.diagnostics.map(\.code) == [.wrongNodeType])
        let inEnum = try read(event(["type": "boolean", "enum": [true, 1]]))
        #expect(inEnum.diagnostics.map(\.code) == [.enumOutsideType])
    }

    @Test("an integer beyond 64 bits is an error")
    func overflow() throws {
        let reading = try read(event(["type": "integer", "maximum": UInt64.max]))
        #expect(reading.diagnostics.map(\.code) == [.integerOverflow])
    }

    @Test("reals and dates are read exactly")
    func otherScalars() throws {
        let number = try read(event(["type": "number", "maximum": 2.5]))
        #expect(number.firstProperty?.maximum == .number(2.5))
        let date = Date(timeIntervalSince1970: 86_400)
        let timestamp = try read(event(["type": "timestamp", "examples": [date]]))
        #expect(timestamp.firstProperty?.examples == [.string("1970-01-02T00:00:00Z")])
    }

    @Test("keys are in alphabetical order, because Foundation does not retain the file's order")
    func order() throws {
        let names = ["b", "a", "d", "c", "e"]
        let payload = Dictionary(uniqueKeysWithValues: names.map { ($0, "any") })
        let reading = try read(["events": ["e": ["registeredTrackers": ["console"], "payload": payload]]])
        #expect(reading.plan?.events.first?.properties.map(\.name) == names.sorted())
    }

    @Test("a damaged file is an error")
    func damaged() {
        let reading = PlanReader().read([PlanSource(file: "b.plist", bytes: Array("bplist00 and nothing".utf8))])
        #expect(reading.places == ["1:1 malformed-plist"])
    }

    @Test("an object that is referenced many times does not expand without limit", .timeLimit(.minutes(5)))
    func sharedObjects() {
        // 60 arrays, each of which holds the next one twice: 2^60 nodes in a few hundred bytes.
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for index in 0..<60 {
            offsets.append(bytes.count)
            bytes += [0xA2, UInt8(index + 1), UInt8(index + 1)]
        }
        offsets.append(bytes.count)
        bytes.append(0x09)
        let table = bytes.count
        bytes += offsets.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        func word(_ value: Int) -> [UInt8] { (0..<8).reversed().map { UInt8(value >> ($0 * 8) & 0xFF) } }
        bytes += [0, 0, 0, 0, 0, 0, 2, 1] + word(offsets.count) + word(0) + word(table)
        let reading = PlanReader().read([PlanSource(file: "b.plist", bytes: bytes)])
        #expect(reading.diagnostics.map(\.code).contains(.fileTooLarge))
        #expect(reading.plan == nil)
    }
}
