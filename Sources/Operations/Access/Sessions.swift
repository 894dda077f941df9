import Hashing
import Synchronization

/// The browsers that are logged in, each by a random number in its cookie.
///
/// They are forgotten when the process ends.
final class Sessions: Sendable {
    /// The maximum number of sessions; a further login ends the one that expires first.
    static let maximumCount = 1000

    /// When each session ends, by the digest of its number, so that the memory of the process does not hold the number.
    private let ends = Mutex<[SHA256Digest: Duration]>([:])
    let duration: Duration

    init(duration: Duration) {
        self.duration = duration
    }

    /// Begins a session; returns its number, 64 hexadecimal digits.
    func begin(now: Duration) -> String {
        var generator = SystemRandomNumberGenerator()
        let number = SHA256Digest(
            of: (0..<4).flatMap { _ in
                withUnsafeBytes(of: UInt64.random(in: .min ... .max, using: &generator), Array.init)
            }
        ).hexadecimal
        ends.withLock { ends in
            ends = ends.filter { $0.value > now }
            if ends.count >= Self.maximumCount, let first = ends.min(by: { $0.value < $1.value }) {
                ends[first.key] = nil
            }
            ends[Self.digest(number)] = now + duration
        }
        return number
    }

    /// Whether the session exists and has not expired.
    func contains(_ number: String, now: Duration) -> Bool {
        // The digest of what was sent is looked up, so the time of the search tells nothing about the numbers.
        ends.withLock { $0[Self.digest(number)] ?? .zero } > now
    }

    /// Ends a session.
    func end(_ number: String) {
        ends.withLock { $0[Self.digest(number)] = nil }
    }

    /// Ends all sessions.
    func endAll() {
        ends.withLock { $0 = [:] }
    }

    private static func digest(_ number: String) -> SHA256Digest { SHA256Digest(of: Array(number.utf8)) }
}
