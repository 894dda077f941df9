import PipelineTestSupport
import SluiceKafka
import Testing

@Suite("The log of librdkafka")
struct KafkaLogTests {
    @Test("a problem for a new reason is logged at once, and not again with another broker or time")
    func reasons() {
        let recording = RecordingLog()
        let log = KafkaLog(logger: recording.logger)
        let lines = [
            "[thrd:a:9092/1]: a:9092/1: Connect to ipv4#10.0.0.1:9092 failed: Connection refused (after 2ms in state CONNECT)",
            "[thrd:b:9092/2]: b:9092/2: Connect to ipv4#10.0.0.2:9092 failed: Connection refused (after 9ms in state CONNECT)",
            "[thrd:b:9092/2]: b:9092/2: Failed to resolve 'b:9092': Name or service not known (after 1ms in state CONNECT)",
            "[thrd:a:9092/1]: a:9092/1: Connect to ipv4#10.0.0.1:9092 failed: Connection refused (after 3ms in state CONNECT)",
            "[thrd:c:9092/3]: c:9092/3: Failed to resolve 'c:9092': Name or service not known (after 1ms in state CONNECT)",
        ]
        for line in lines { log.take(severity: 3, facility: "FAIL", line: line) }
        #expect(recording.all.map { $0.contains("refused") } == [true, false])
        #expect(recording.all.last?.contains("lines=2") == true)
    }
}
