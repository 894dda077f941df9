import EventValidation
import Foundation
import JSONTape
import TrackerKit

/// Reads the records that `RecordWriter` wrote, from the canonical lines of the pipeline.
struct RecordReader: ~Copyable {
    private var parser = JSONParser()
    private var padded: [UInt8] = []

    /// The name and the payload of an event; `nil` if the line is not a record.
    mutating func record(in event: TrackedEvent) -> (name: String, payload: Payload)? {
        padded.removeAll(keepingCapacity: true)
        padded.append(contentsOf: event.batch.line(at: event.index))
        padded.append(contentsOf: repeatElement(0, count: JSONParser.padding))
        return padded.withUnsafeBytes { bytes in
            let line = UnsafeRawBufferPointer(rebasing: bytes.dropLast(JSONParser.padding))
            guard let tape = try? parser.parse(line), tape.kind(at: tape.root) == .object,
                let record = Self.members(at: tape.root, of: tape)["payload"] as? [String: Any],
                let name = record[RecordPlan.eventKey] as? String,
                let payload = record[RecordPlan.valuesKey] as? Payload
            else { return nil }
            return (name, payload)
        }
    }

    private static func value(at index: Int, of tape: JSONTape) -> Any {
        switch tape.kind(at: index) {
        case .string: return text(at: index, of: tape)
        case .signed: return Int(tape.signed(at: index))
        case .double: return tape.nearestDouble(at: index)
        case .true: return true
        case .false: return false
        case .array: return elements(at: index, of: tape)
        case .object: return untagged(at: index, of: tape) ?? members(at: index, of: tape)
        default: return NSNull()
        }
    }

    private static func text(at index: Int, of tape: JSONTape) -> String {
        String(decoding: tape.string(at: index), as: UTF8.self)
    }

    private static func elements(at index: Int, of tape: JSONTape) -> [Any] {
        let contents = tape.contents(of: index)
        var elements: [Any] = []
        var element = contents.lowerBound
        while element < contents.upperBound {
            elements.append(value(at: element, of: tape))
            element = tape.end(of: element)
        }
        return elements
    }

    private static func members(at index: Int, of tape: JSONTape) -> [String: Any] {
        let contents = tape.contents(of: index)
        var members: [String: Any] = [:]
        var member = contents.lowerBound
        while member < contents.upperBound {
            members[text(at: member, of: tape)] = value(at: member + 1, of: tape)
            member = tape.end(of: member + 1)
        }
        return members
    }

    /// The value of a tagged object; `nil` if the object has no tag.
    private static func untagged(at index: Int, of tape: JSONTape) -> Any? {
        let contents = tape.contents(of: index)
        let (key, value) = (contents.lowerBound, contents.lowerBound + 1)
        guard !contents.isEmpty, tape.end(of: value) == contents.upperBound else { return nil }
        switch tape.kind(at: value) {
        case .string: return TaggedText.value(ofTag: text(at: key, of: tape), text: text(at: value, of: tape))
        // A tagged dictionary is the app's own, whatever its keys.
        case .object where text(at: key, of: tape) == TaggedText.dictionary: return members(at: value, of: tape)
        default: return nil
        }
    }
}
