package import NIOCore

/// How many frames a sender may send on an HTTP/2 connection, in proportion to what it sends and reads.
///
/// A flood of frames that carry no request costs the server time and its sender nothing. So each frame takes one from an
/// allowance, which grows with requests, with the bytes of bodies and answers, and slowly with time. Requests that the sender cancels, and
/// those that are reset because they violate the protocol, have an allowance of their own.
///
/// The figures are far from what clients do: one that sends a PING each second, a `WINDOW_UPDATE` for the connection and the
/// stream after each 512 bytes of an answer, and a body in pieces of 16 bytes, uses less than it earns.
package struct FrameAllowance {
    /// A number that is used up by frames, and grows up to a limit.
    private struct Balance {
        let limit: Double
        let perSecond: Double
        var value: Double
        var updated: NIODeadline

        init(limit: Double, perSecond: Double, now: NIODeadline) {
            self.limit = limit
            self.perSecond = perSecond
            value = limit
            updated = now
        }

        mutating func add(_ amount: Double) { value = min(limit, value + amount) }

        /// Whether there was still one to take.
        mutating func takeOne(now: NIODeadline) -> Bool {
            add(Double((now - updated).nanoseconds) / 1e9 * perSecond)
            updated = now
            value -= 1
            return value >= 0
        }
    }

    /// How many frames a connection may send at once, apart from those for its requests.
    package static let burst = 1000
    static let perSecond = 20.0
    static let perRequest = 20.0
    static let bodyBytesPerFrame = 16.0
    static let answerBytesPerFrame = 256.0
    /// The time after which the allowance for resets has grown from nothing to its limit.
    static let resetWindow = 30.0

    private var frames: Balance
    private var resets: Balance

    /// Makes the allowance of a new connection.
    package init(maximumStreams: Int, maximumResets: Int, now: NIODeadline) {
        let limit = Double(Self.burst) + Self.perRequest * Double(maximumStreams)
        frames = Balance(limit: limit, perSecond: Self.perSecond, now: now)
        resets = Balance(limit: Double(maximumResets), perSecond: Double(maximumResets) / Self.resetWindow, now: now)
    }

    /// Notes the header of a frame that arrives.
    ///
    /// - Returns: Whether it is within the allowance.
    package mutating func receive(_ frame: FrameHeader, beginsRequest: Bool, now: NIODeadline) -> Bool {
        if beginsRequest { frames.add(Self.perRequest) }
        // Padding is nothing that a body consists of, and its length is not in the header.
        if frame.kind == FrameHeader.data, !frame.isPadded { frames.add(Double(frame.length) / Self.bodyBytesPerFrame) }
        guard frames.takeOne(now: now) else { return false }
        return frame.kind != FrameHeader.reset || resets.takeOne(now: now)
    }

    /// Notes that bytes of an answer are sent, for which the sender will send `WINDOW_UPDATE` frames.
    package mutating func answer(bytes: Int) { frames.add(Double(bytes) / Self.answerBytesPerFrame) }

    /// Notes that a request was reset because it violates the protocol.
    ///
    /// - Returns: Whether it is within the allowance.
    package mutating func violate(now: NIODeadline) -> Bool { resets.takeOne(now: now) }
}
