import Foundation
import Testing

/// `sluice coverage`, over a folder of sources.
@Suite("sluice coverage", .timeLimit(.minutes(3)))
struct CoverageTests {
    private static func plan(_ events: [String: String]) -> String {
        let entries = events.sorted { $0.key < $1.key }.map { name, more in
            "<key>\(name)</key><dict>\(more)<key>registeredTrackers</key><array><string>console</string></array></dict>"
        }
        return "<plist>\n<dict><key>events</key><dict>\n\(entries.joined(separator: "\n"))\n</dict></dict></plist>"
    }

    @Test("events that no code sends are listed with their places; what is deprecated may be so")
    func events() async throws {
        let folder = try TestFolder()
        let deprecated = "<key>deprecated</key><string>Use Seen.</string>"
        try folder.write(Self.plan(["Bought": "", "Seen": "", "Sold": "", "Viewed": deprecated]), to: "events/a.plist")
        try folder.write("struct Sold {}\nfunc a() { track(Bought(number: 1)) } // Sold()\n", to: "code/a.swift")
        try folder.write("// nothing", to: "code/deep/b.kt")
        let run = try await Sluice.run("coverage", "code", in: folder)
        #expect(run.ending == .exit(1))
        #expect(
            run.output == [
                "events/a.plist:4:1: warning: no code sends 'Seen' (Seen) [never-sent]",
                "events/a.plist:5:1: warning: no code sends 'Sold' (Sold) [never-sent]",
                "events/a.plist:6:1: note: no code sends 'Viewed' (Viewed) any more; it can go [deprecated]",
            ]
        )
        #expect(run.errors == ["1 of 4 events are sent; 2 files read"])
        try folder.write("track(\"Seen\")", to: "code/deep/b.kt")
        try folder.write("track('Sold')", to: "more.js")
        let all = try await Sluice.run("coverage", "code", "more.js", in: folder)
        #expect(all.ending == .exit(0) && all.output.count == 1)
        #expect(all.errors == ["3 of 4 events are sent; 3 files read"])
    }

    @Test("links in a circle, binary and huge files end well; what cannot be read is told and ends it with 2")
    func files() async throws {
        let folder = try TestFolder()
        try folder.write(Self.plan(["Sold": ""]), to: "events/a.plist")
        try folder.write("track('Sold')", to: "code/a.js")
        try folder.write(Data([0x27, 0, 0x27]), to: "code/b.bin")
        try folder.write(Data(repeating: 0x20, count: 9 << 20), to: "code/huge.log")
        try folder.write("Sold()", to: "code/.build/hidden.swift")
        try folder.write("'Sold'", to: "code/README.md")
        try FileManager.default.createSymbolicLink(atPath: folder.path("code/loop"), withDestinationPath: "../code")
        let run = try await Sluice.run("coverage", "code", "code/", "code/loop", in: folder)
        #expect(run.ending == .exit(0) && run.output == [])
        #expect(
            run.errors == [
                "note: code/huge.log was skipped: larger than 8 MiB", "note: 1 file is no text, and skipped",
                "1 of 1 events are sent; 1 file read",
            ]
        )
        let missing = try await Sluice.run("coverage", "code", "nowhere", "/dev/null", in: folder)
        #expect(missing.ending == .exit(2))
        #expect(missing.errors.contains("error: nowhere: no such file or folder"))
        #expect(missing.errors.contains("error: /dev/null: neither a file nor a folder"))
    }

    @Test("trackers that nobody configured, and those that no event names, are listed, and count where told")
    func trackers() async throws {
        let folder = try TestFolder()
        try folder.write(
            Self.plan(["Sold": ""]).replacingOccurrences(of: "console", with: "kafka"),
            to: "events/a.plist"
        )
        try folder.write("Sold()", to: "a.swift")
        let run = try await Sluice.run("coverage", "a.swift", in: folder)
        #expect(run.ending == .exit(0))
        #expect(
            run.output == [
                "warning: nobody configured the tracker 'kafka', which 1 event names: Sold [unconfigured-tracker]",
                "warning: no event names the tracker 'console', which is configured [unused-tracker]",
            ]
        )
        #expect(try await Sluice.run("coverage", "a.swift", "--strict-trackers", in: folder).ending == .exit(1))
        let right = ["coverage", "a.swift", "--strict-trackers", "--no-console", "--kafka", "localhost:1"]
        let clean = try await Sluice.run(right, in: folder)
        #expect(clean.ending == .exit(0) && clean.output == [])
    }

    @Test("--json says the same for machines")
    func json() async throws {
        let folder = try TestFolder()
        try folder.write(Self.plan(["Sold": "", "Seen": ""]), to: "events/a.plist")
        try folder.write("ShopSeen()", to: "a.swift")
        let run = try await Sluice.run("coverage", "a.swift", "--type-prefix", "Shop", "--json", in: folder)
        #expect(run.ending == .exit(1) && run.errors == [])
        let json =
            try JSONSerialization.jsonObject(with: Data(run.output.joined(separator: "\n").utf8)) as? [String: Any]
        let events = json?["neverSent"] as? [[String: Any]]
        #expect(events?.map { $0["event"] as? String } == ["Sold"])
        #expect(events?.first?["type"] as? String == "ShopSold")
        #expect(json?["events"] as? Int == 2 && json?["files"] as? Int == 1)
    }
}
