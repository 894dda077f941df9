import DequeModule

/// When queued events arrived: a time for the first of up to 256 of them, so that few arrivals need a look at the clock.
struct ArrivalTimes: Sendable {
    /// How many events may share a time.
    static let spacing = 256

    /// The events from a position on arrived at this time or later.
    private struct Mark: Sendable {
        let position: Int
        let time: Duration
    }

    private var marks: Deque<Mark> = []

    /// Notes that events were queued from a position on, which is not before any that was noted.
    mutating func note(_ position: Int, now: () -> Duration) {
        if let last = marks.last, position < last.position + Self.spacing { return }
        marks.append(Mark(position: position, time: now()))
    }

    /// When the event at a position arrived, or up to 255 events before it; `nil` if nothing was noted.
    func time(of position: Int) -> Duration? {
        (marks.last { $0.position <= position } ?? marks.first)?.time
    }

    /// Forgets what concerns only events before a position.
    mutating func forget(before position: Int) {
        while marks.count > 1, marks[1].position <= position { marks.removeFirst() }
    }

    mutating func forgetAll() {
        marks.removeAll()
    }
}
