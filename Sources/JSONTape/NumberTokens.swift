/// The numbers of a document as they were written, with the digits that a double cannot hold.
public struct NumberTokens {
    /// For each number, in the order of the text: the index of its word on the tape, and the offset of its first byte.
    private let places: [(index: Int, offset: Int)]
    private let text: UnsafeRawBufferPointer

    /// Finds all numbers of a document, in time proportional to its length.
    public init(_ tape: JSONTape) {
        var places: [(index: Int, offset: Int)] = []
        tape.forEachNumber { index, offset in places.append((index, offset)) }
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
        return text.number(at: places[low].offset)
    }
}

extension UnsafeRawBufferPointer {
    /// The number that begins at an offset of the text.
    func number(at start: Int) -> UnsafeRawBufferPointer {
        var end = start
        while end < count, NumberToken.mayContain(self[end]) { end += 1 }
        return UnsafeRawBufferPointer(rebasing: self[start..<end])
    }
}

extension JSONTape {
    /// Calls `body` for each number in the order of the text: the index of its word on the tape, and the offset of its first byte.
    func forEachNumber(_ body: (_ index: Int, _ offset: Int) -> Void) {
        var index = root
        let end = end(of: root)
        // Tape and structurals list the same values in the same order, so the nth number is the nth number of both.
        var structural = 0
        while index < end {
            if kind(at: index).isNumber {
                while !NumberToken.mayStart(text[Int(structurals[structural])]) { structural += 1 }
                body(index, Int(structurals[structural]))
                structural += 1
                index += 2
            } else {
                index += 1
            }
        }
    }

    /// Whether the document may contain a number of more than `length` bytes; in time proportional to its length.
    public func mayHaveNumber(longerThan length: Int) -> Bool {
        for place in structurals.indices.dropLast() where NumberToken.mayStart(text[Int(structurals[place])]) {
            if Int(structurals[place + 1] - structurals[place]) > length { return true }
        }
        // Only a document that is a number ends with one.
        return kind(at: root).isNumber
    }
}
