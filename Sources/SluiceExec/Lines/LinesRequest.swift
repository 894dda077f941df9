import EventModel
import EventValidation
import TrackerKit

/// What a program is sent: a header, and the canonical line of each event.
///
/// ```json
/// {"delivery":7,"attempt":1,"events":250,"bytes":81234}
/// ```
///
/// `events` is the number of lines that follow, and `bytes` their size with the line feeds. `attempt` counts the deliveries since one
/// brought something to its destination.
struct LinesRequest {
    let bytes: [UInt8]

    init(_ delivery: Delivery, number: Int, attempt: Int) {
        var bytes = Self.header(number: number, attempt: attempt, events: delivery.count, bytes: delivery.byteCount)
        bytes.append(UInt8(ascii: "\n"))
        bytes.reserveCapacity(bytes.count + delivery.byteCount)
        for event in delivery {
            bytes.append(contentsOf: event.batch.line(at: event.index))
            bytes.append(UInt8(ascii: "\n"))
        }
        self.bytes = bytes
    }

    /// An empty delivery, with the names of the events that the program will get; only `sluice check` sends it.
    init(checkOf events: [String], number: Int) {
        var bytes = Self.header(number: number, attempt: 1, events: 0, bytes: 0).dropLast()
        bytes.append(contentsOf: #","check":["#.utf8)
        for (index, event) in events.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: JSONString.canonical(event))
        }
        bytes.append(contentsOf: "]}\n".utf8)
        self.bytes = Array(bytes)
    }

    private static func header(number: Int, attempt: Int, events: Int, bytes: Int) -> [UInt8] {
        Array(#"{"delivery":\#(number),"attempt":\#(attempt),"events":\#(events),"bytes":\#(bytes)}"#.utf8)
    }
}
