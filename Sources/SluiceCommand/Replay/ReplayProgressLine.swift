import EventModel
import SluiceReplay

/// A progress line for the terminal, updated at most ten times a second.
struct ReplayProgressLine: ReplayProgress {
    private let totalBytes: Int?
    private let start: ContinuousClock.Instant
    private var lastShown: ContinuousClock.Instant

    /// Creates a line for a replay that begins now; `totalBytes` is `nil` if it is not known.
    init(totalBytes: Int?) {
        self.totalBytes = totalBytes
        start = .now
        lastShown = start
    }

    mutating func show(events: Int, bytes: Int) {
        let now = ContinuousClock.now
        guard now - lastShown >= .milliseconds(100) else { return }
        lastShown = now
        let elapsed = Double((now - start).components.seconds) + Double((now - start).components.attoseconds) / 1e18
        Terminal.replaceLine("\(Self.line(events: events, bytes: bytes, totalBytes: totalBytes, elapsed: elapsed))")
    }

    mutating func clear() { Terminal.replaceLine("") }

    /// For example `[#####-----]  52 %  1234567 events  345678/s  3 s left`.
    static func line(events: Int, bytes: Int, totalBytes: Int?, elapsed: Double) -> String {
        let rate = elapsed > 0 ? Double(events) / elapsed : 0
        let counts = "\(events.of("event"))  \(Int(rate))/s"
        guard let totalBytes, totalBytes > 0 else { return counts }
        let share = min(1, Double(bytes) / Double(totalBytes))
        let done = Int(share * 20)
        let bar = String(repeating: "#", count: done) + String(repeating: "-", count: 20 - done)
        let left = share > 0 ? elapsed / share - elapsed : 0
        return "[\(bar)] \(Int(share * 100)) %  \(counts)  \(Int(left.rounded(.up))) s left"
    }
}
