import NIOCore
import SluiceHTTP
import Synchronization
import TestPromises
import Testing

@Suite("The parts of the journal that keys may use")
struct JournalSharesTests {
    private static func key(_ name: String) -> KeyLimiter { KeyLimiter(name: name, WriteKey.Limits()) }

    /// A time, in milliseconds.
    private static func time(_ milliseconds: Int64) -> NIODeadline {
        .uptimeNanoseconds(0) + .milliseconds(milliseconds)
    }

    @Test(
        "below four fifths nothing is refused; beyond, each key has an equal part, until the trackers catch up",
        .promise("fair-shares")
    )
    func parts() {
        let needed = Mutex(0)
        let shares = JournalShares { .init(neededBytes: needed.withLock { $0 }, capacityInBytes: 1000) }
        let (hog, honest) = (Self.key("hog"), Self.key("honest"))
        for _ in 0..<8 { #expect(shares.take(100, of: hog, among: 2, now: Self.time(0))) }
        // What was admitted since the measurement counts, too. The last fifth has 100 bytes for each key.
        #expect(shares.take(60, of: hog, among: 2, now: Self.time(0)))
        #expect(shares.take(60, of: hog, among: 2, now: Self.time(0)), "a batch may exceed the part")
        #expect(!shares.take(1, of: hog, among: 2, now: Self.time(999)))
        #expect(shares.take(90, of: honest, among: 2, now: Self.time(999)))
        needed.withLock { $0 = 900 }
        #expect(!shares.take(1, of: hog, among: 2, now: Self.time(1000)))
        #expect(shares.take(9, of: honest, among: 2, now: Self.time(1000)))
        needed.withLock { $0 = 799 }
        #expect(shares.take(1, of: hog, among: 2, now: Self.time(2000)))
        #expect(shares.take(99, of: hog, among: 2, now: Self.time(2000)), "the parts are whole again")
    }

    @Test("a batch that the pipeline did not accept does not count")
    func giveBack() {
        let shares = JournalShares { .init(neededBytes: 800, capacityInBytes: 1000) }
        let key = Self.key("web")
        #expect(shares.take(200, of: key, among: 1, now: Self.time(0)))
        #expect(!shares.take(1, of: key, among: 1, now: Self.time(0)))
        shares.giveBack(200, of: key)
        #expect(shares.take(1, of: key, among: 1, now: Self.time(0)))
    }

    @Test("a new key does not inherit what a removed one has used")
    func removedKeys() {
        let shares = JournalShares { .init(neededBytes: 900, capacityInBytes: 1000) }
        // Each key is removed at once, so that the next one would get its place in memory.
        for number in 0..<100 {
            #expect(shares.take(200, of: Self.key("\(number)"), among: 1, now: Self.time(0)))
        }
    }

    @Test("without a journal nothing is refused")
    func noJournal() {
        let shares = JournalShares { nil }
        for _ in 0..<10 { #expect(shares.take(1 << 30, of: Self.key("web"), among: 1, now: Self.time(0))) }
    }
}
