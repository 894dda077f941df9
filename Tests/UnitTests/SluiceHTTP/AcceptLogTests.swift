import Foundation
import NIOCore
import NIOEmbedded
import PipelineTestSupport
import SluiceHTTP
import SluiceTesting
import Testing

@Suite("The log of connections that cannot be accepted")
struct AcceptLogTests {
    @Test("has the first failure, then one a minute, and the next connection with the duration")
    func descriptors() throws {
        let (log, clock) = (RecordingLog(), ManualClock())
        let channel = EmbeddedChannel(handler: AcceptLog(logger: log.logger, clock: clock))
        for _ in 0..<61 {
            channel.pipeline.fireErrorCaught(IOError(errnoCode: EMFILE, reason: "accept"))
            clock.advance(by: .seconds(1))
            // The next handler, which pauses accepting, gets the error as well.
            #expect(throws: IOError.self) { try channel.throwIfErrorCaught() }
        }
        #expect(log.errors.count == 2)
        #expect(log.errors.allSatisfy { $0.hasPrefix("Connections cannot be accepted; the server will try again.") })
        for _ in 0..<2 { channel.pipeline.fireChannelRead(EmbeddedChannel()) }
        #expect(log.all.count == 3)
        #expect(log.all.last?.contains("failures=61 seconds=61.0") == true)
    }
}
