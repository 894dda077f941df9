import Loader
import Testing

@Suite("The status of a member")
struct MemberStatusTests {
    @Test("says why the member has no partitions, whatever happened before")
    func problems() {
        let status = MemberStatus(tracker: "postgres")
        #expect(status.problem == "its member has not joined the consumer group yet")
        status.set([:], .absent, isFailing: true)
        #expect(status.problem == "the tracker cannot start, or Kafka cannot be read; the log says why")
        status.set([:], .absent, isFailing: false)
        #expect(status.problem == "its member has not joined the consumer group yet")
        status.set([:], .joined, isFailing: true)
        #expect(status.problem == nil)
        status.set([:], .absent, isFailing: false)
        #expect(status.problem == "its member has left the consumer group and will join it again")
        status.set([:], .joined, isFailing: false)
        #expect(status.problem == nil)
        status.set([:], .waiting(.seconds(61)), isFailing: true)
        #expect(status.problem == "its consumer group has assigned no partitions for 61 s")
    }
}
