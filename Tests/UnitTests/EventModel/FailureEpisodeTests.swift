import EventModel
import Testing

@Suite("The log of a failure that repeats")
struct FailureEpisodeTests {
    @Test("has the first failure, then once a minute the number of further ones, and the end with number and duration")
    func outage() {
        var episode = FailureEpisode()
        var lines: [(second: Int, FailureEpisode.Summary)] = []
        for second in stride(from: 0, through: 150, by: 10) {
            if let summary = episode.failed(now: .seconds(second)) { lines.append((second, summary)) }
        }
        #expect(lines.map(\.second) == [0, 60, 120])
        #expect(lines.map(\.1.count) == [1, 6, 6])
        #expect(lines.map(\.1.duration) == [.zero, .seconds(60), .seconds(120)])
        #expect(episode.isFailing)
        let end = episode.ended(now: .seconds(155))
        #expect(end?.count == 16)
        #expect(end?.duration == .seconds(155))
        #expect(!episode.isFailing)
        #expect(episode.ended(now: .seconds(156)) == nil)
    }

    @Test("begins anew after the end")
    func again() {
        var episode = FailureEpisode()
        _ = episode.failed(now: .zero)
        _ = episode.ended(now: .seconds(1))
        #expect(episode.failed(now: .seconds(11))?.duration == .zero)
        let end = episode.ended(now: .seconds(12))
        #expect(end?.count == 1)
        #expect(end?.duration == .seconds(1))
    }

    @Test("has at most two lines in ten seconds for a failure that comes and goes")
    func flapping() {
        var episode = FailureEpisode()
        var lines = 0
        var reported = 0
        for tenth in 0..<1000 {
            if let summary = episode.failed(now: .milliseconds(100 * tenth)) {
                lines += 1
                reported += summary.count
            }
            if episode.ended(now: .milliseconds(100 * tenth + 50)) != nil { lines += 1 }
        }
        #expect(lines == 20)
        // All but those since the last line.
        #expect(reported > 890)
    }

    @Test("has a new reason at once, up to eight of one episode, and a known one only with the next line")
    func reasons() {
        var episode = FailureEpisode()
        let reasons = ["a", "b", "a", "b"] + (0..<20).map { "\($0)" }
        let logged = reasons.filter { episode.failed(because: $0, now: .seconds(1)) != nil }
        #expect(logged == ["a", "b", "0", "1", "2", "3", "4", "5"])
        #expect(episode.failed(because: "a", now: .seconds(61))?.count == 15)
    }

    @Test("counts a failure that began before it was noticed from its beginning")
    func since() {
        var episode = FailureEpisode()
        #expect(episode.failed(since: .seconds(5), now: .seconds(10))?.duration == .seconds(5))
        #expect(episode.ended(now: .seconds(11))?.duration == .seconds(6))
    }

    @Test("sums up what has no end, such as lost events")
    func withoutEnd() {
        var episode = FailureEpisode()
        let counts = [0, 59, 60, 1000].map { episode.failed(5, now: .seconds($0))?.count }
        #expect(counts == [5, nil, 10, 5])
    }
}
