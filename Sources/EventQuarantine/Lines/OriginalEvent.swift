import JSONTape

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Quarantine {
    /// The event in a line of a quarantine, byte for byte as it was sent; `nil` if the line is not of a quarantine.
    public static func original(ofLine line: some Collection<UInt8>) -> [UInt8]? {
        // Quotes within a string are escaped, so these bytes occur only before the event, the last member.
        let marker = Array(#"]},"event":"#.utf8)
        let bytes = Array(line)
        var parser = JSONParser()
        let padded = bytes + [UInt8](repeating: 0, count: JSONParser.padding)
        return padded.withUnsafeBytes { memory -> [UInt8]? in
            guard let tape = try? parser.parse(UnsafeRawBufferPointer(rebasing: memory.prefix(bytes.count))) else {
                return nil
            }
            guard tape.kind(at: tape.root) == .object else { return nil }
            var member = tape.contents(of: tape.root).lowerBound
            while member < tape.contents(of: tape.root).upperBound {
                let value = member + 1
                switch String(decoding: tape.string(at: member), as: UTF8.self) {
                case "event": return range(of: marker, in: bytes).map { Array(bytes[$0.upperBound...].dropLast()) }
                case "eventText" where tape.kind(at: value) == .string:
                    return Array(tape.string(at: value))
                case "eventBase64" where tape.kind(at: value) == .string:
                    return Data(base64Encoded: Data(tape.string(at: value))).map(Array.init)
                default: member = tape.end(of: value)
                }
            }
            return nil
        }
    }

    private static func range(of marker: [UInt8], in bytes: [UInt8]) -> Range<Int>? {
        guard bytes.count >= marker.count else { return nil }
        for start in 0...bytes.count - marker.count where bytes[start] == marker[0] {
            if bytes[start..<start + marker.count].elementsEqual(marker) { return start..<start + marker.count }
        }
        return nil
    }
}
