import EventModel
import JSONTape
package import TrackerKit

/// The state that ends a delivery, which the target prints once it has stored everything before it.
package struct SingerState {
    /// The value, which no other delivery has.
    private let value: JSONValue
    /// The message, with its line feed.
    package let message: [UInt8]

    /// Makes the state of a delivery: by the tracker's name, a text that is different each time the tracker is made, and a number.
    package init(tracker: String, run: String, delivery: Int) {
        value = ["tracker": .string(tracker), "run": .string(run), "delivery": .integer(Int64(delivery))]
        let (tracker, run) = (JSONString.quoted(tracker), JSONString.quoted(run))
        let text = #"{"tracker":\#(tracker),"run":\#(run),"delivery":\#(delivery)}"#
        message = Array(#"{"type":"STATE","value":\#(text)}"#.utf8) + [UInt8(ascii: "\n")]
    }

    /// Whether a line is this state, which targets print in a form of their own.
    package func isStated(by line: [UInt8]) -> Bool { JSONValue(json: line) == value }
}

/// The last line of what a program writes to standard output; lines without a character do not count.
package struct LastLine {
    /// The maximum length of a line that is kept whole; a state is much shorter.
    private static let maximumLine = 64 << 10
    /// The maximum size of the whole output: far more than the states of a delivery in parts.
    private static let maximumOutput = 16 << 20

    private var count = 0
    private var current: [UInt8] = []
    private var last: [UInt8] = []

    package init() {}

    /// The line, also if it has not ended.
    package var bytes: [UInt8] { current.isEmpty ? last : current }

    /// Takes the next bytes.
    ///
    /// - Throws: `failed` if it is too much.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) throws(TrackerError) {
        count += bytes.count
        guard count <= Self.maximumOutput else { throw ExecErrors.tooMuchOutput }
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                if !current.isEmpty { last = current }
                current.removeAll(keepingCapacity: true)
            } else if current.count < Self.maximumLine {
                current.append(byte)
            }
        }
    }
}
