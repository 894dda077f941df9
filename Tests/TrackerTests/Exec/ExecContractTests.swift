import EventModel
import Foundation
import SluiceExec
import SluiceTesting
import TestSupport
import Testing

@Suite("The tracker contract and programs", .timeLimit(.minutes(5)))
struct ExecContractTests {
    @Test("the examples meet the tracker contract", arguments: ["append.py", "append.sh"])
    func examples(name: String) async throws {
        let folder = try ProgramFolder()
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
        let example = root.appending(path: "Examples/exec/\(name)").path
        try await TrackerContract(
            makeTracker: { .exec([example, folder.path("events")], logger: ProgramFolder.silent) },
            delivered: { folder.ids(in: "events") }
        ).verify()
    }

    @Test("a program that asks for retries, or hangs, meets the tracker contract", arguments: ["retry", "hang"])
    func outages(kind: String) async throws {
        let folder = try ProgramFolder()
        let script = """
            while IFS= read -r header; do
                bytes=$(expr "$header" : '.*,"bytes":\\([0-9]*\\)')
                delivery=$(expr "$header" : '{"delivery":\\([0-9]*\\),')
                if [ -e "$1/hang" ]; then tail -f /dev/null; fi
                if [ -e "$1/retry" ]; then
                    head -c "$bytes" >/dev/null
                    echo "{\\"delivery\\":$delivery,\\"retry\\":{\\"reason\\":\\"not now\\"}}"
                else
                    head -c "$bytes" >>"$1/events"
                    echo "{\\"delivery\\":$delivery}"
                fi
            done
            """
        try await TrackerContract(
            outage: .init(begin: { try folder.write("", to: kind) }, end: { try folder.remove(kind) }),
            makeTracker: { folder.tracker(script: script) },
            delivered: { folder.ids(in: "events") }
        ).verify()
    }
    @Test("a Singer target that fails, or hangs, meets the tracker contract", arguments: ["fail", "hang"])
    func singerOutages(kind: String) async throws {
        let folder = try ProgramFolder()
        let script = """
            if [ -e "$1/hang" ]; then tail -f /dev/null; fi
            if [ -e "$1/fail" ]; then exit 1; fi
            \(SingerTarget.script)
            """
        try await TrackerContract(
            outage: .init(begin: { try folder.write("", to: kind) }, end: { try folder.remove(kind) }),
            makeTracker: { folder.tracker(script: script) { $0.protocol = .singer } },
            delivered: { folder.ids(in: "events") }
        ).verify()
    }

    @Test("target-jsonl meets the tracker contract")
    func targetJSONL() async throws {
        let folder = try ProgramFolder()
        let command = try SingerTarget.jsonl(in: folder)
        try await TrackerContract(
            makeTracker: { .exec(command, protocol: .singer, logger: ProgramFolder.silent) },
            delivered: { folder.ids(in: "events.jsonl") }
        ).verify()
    }
}
