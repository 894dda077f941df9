import EventValidation
import Foundation
import PipelineTestSupport
import SluiceTesting
import TestPromises
import Testing
import TrackerKit

@Suite("A tracker of single events")
struct SingleEventTrackerTests {
    private struct Scripted: SingleEventTracker {
        let name = "alpha"
        let failures: [Int: any Error]

        func track(_ event: TrackedEvent) async throws {
            if let failure = failures[event.number] { throw failure }
        }
    }

    private let delivery = Delivery([EventSlice(PipelineHarness.batch("A", 0..<5))])

    @Test(
        "after an error that is not a refusal, delivery is retried from that event on",
        .promise("custom-tracker"),
        arguments: [true, false]
    )
    func outage(_ isTrackerError: Bool) async {
        let error: any Error = isTrackerError ? ScriptedTracker.misconfiguration : URLError(.cannotConnectToHost)
        let outcome = await Scripted(failures: [2: error]).deliver(delivery)
        #expect(outcome.refusals.isEmpty)
        #expect(outcome.retry?.positions == [2, 3, 4])
        #expect(outcome.retry?.reason.code == (isTrackerError ? .misconfigured : .failed))
        #expect(outcome.retry?.reason.isRetryable == !isTrackerError)
        if !isTrackerError {
            let message = outcome.retry?.reason.message
            #expect(message == "The tracker threw an error of the type URLError: NSURLErrorDomain -1004.")
        }
    }

    @Test("the message of an unknown error names its type, and not its contents")
    func values() async {
        struct Leak: Error, CustomStringConvertible {
            let description = "card 4711"
        }
        let reason = await Scripted(failures: [0: Leak()]).deliver(delivery).retry?.reason
        #expect(reason?.description == "The tracker threw an error of the type Leak. [failed]")
        #expect(reason?.debugDescription.contains("4711") == true)
    }

    @Test("a refusal is reported, and the events after it are delivered")
    func refusal() async {
        let failures: [Int: any Error] = [1: EventRefusal("no such customer"), 3: EventRefusal("too old")]
        let outcome = await Scripted(failures: failures).deliver(delivery)
        #expect(outcome.retry == nil)
        #expect(
            outcome.refusals == [
                .init(position: 1, reason: "no such customer"), .init(position: 3, reason: "too old"),
            ]
        )
    }
}
