/// The member `serverTime` at the end of a canonical line, the mark of a time that is not the sender's.
///
/// An event has it if a server gave its time, or may correct it, and another attempt of the sender to send it could get another
/// time. A destination that recognizes events by id and time together needs the mark to find both attempts.
package enum ServerTime {
    /// The member, with the comma before it.
    package static let member: StaticString = #","serverTime":true"#

    /// Whether a canonical line, without its newline, has the member.
    ///
    /// The brace before the member ends the payload, so no value within the payload looks like it.
    @inline(__always)
    package static func isMarked(_ line: UnsafeRawBufferPointer) -> Bool {
        // Nearly all lines end with two braces.
        guard line.count > member.utf8CodeUnitCount + 1, line[line.count - 2] == UInt8(ascii: "e") else { return false }
        let start = line.count - 1 - member.utf8CodeUnitCount
        let end = UnsafeRawBufferPointer(rebasing: line[start..<line.count - 1])
        return line[start - 1] == UInt8(ascii: "}")
            && end.elementsEqual(UnsafeBufferPointer(start: member.utf8Start, count: member.utf8CodeUnitCount))
    }
}
