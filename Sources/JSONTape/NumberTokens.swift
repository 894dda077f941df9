/// The numbers of a document as they were written, with the digits that a double cannot hold.
public struct NumberTokens {
    /// For each number, in the order of the text: the index of its word on the tape, and the offset of its first byte.
    private let places: [(index: Int, offset: Int)]
    private let text: UnsafeRawBufferPointer

    /// Finds all numbers of a document, in time proportional to its length.
    public init(_ tape: JSONTape) {
        var places: [(index: Int, offset: Int)] = []
        var index = tape.root
        let end = tape.end(of: tape.root)
        // Tape and structurals list the same values in the same order, so the nth number is the nth number of both.
        var structural = 0
        while index < end {
            if tape.kind(at: index).isNumber {
                while !Self.startsNumber(tape.text[Int(tape.structurals[structural])]) { structural += 1 }
                places.append((index, Int(tape.structurals[structural])))
                structural += 1
                index += 2
            } else {
                index += 1
            }
        }
        self.places = places
        text = tape.text
    }

    /// The number at `index` of the tape as it was written; empty if there is no number.
    public func text(at index: Int) -> UnsafeRawBufferPointer {
        var low = 0
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[middle].index < index { low = middle + 1 } else { high = middle }
        }
        guard low < places.count, places[low].index == index else {
            return UnsafeRawBufferPointer(rebasing: text[..<0])
        }
        let start = places[low].offset
        var end = start
        while end < text.count, Self.belongsToNumber(text[end]) { end += 1 }
        return UnsafeRawBufferPointer(rebasing: text[start..<end])
    }

    private static func startsNumber(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func belongsToNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default:
            false
        }
    }
}
