import Foundation
import ServerTestSupport
import Testing

/// `sluice new-event`, on real files.
@Suite("sluice new-event", .timeLimit(.minutes(5)))
struct NewEventTests {
    @Test("new-event adds an event, and changes neither the rest of the file nor its mode")
    func adds() async throws {
        let folder = try TestFolder()
        let before = try String(contentsOfFile: Sluice.plan + "/retail.plist", encoding: .utf8)
        let path = try folder.write(before, to: "events/retail.plist")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        let run = try await Sluice.run("new-event", "Order Cancelled", "--owner", "checkout", in: folder)
        #expect(run.ending == .exit(0))
        #expect(run.output == ["events/retail.plist:146:3: added 'Order Cancelled' for console, postgres, kafka"])
        let after = try String(contentsOfFile: path, encoding: .utf8)
        let end = "\n\t</dict>\n</dict>\n</plist>\n"
        #expect(before.hasSuffix(end) && after.hasSuffix(end) && after.hasPrefix(before.dropLast(end.count)))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o640)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("events")) == ["retail.plist"])
        #expect(try await Sluice.run("lint", in: folder).errors == ["3 events, no problems"])
        try folder.write(before, to: "old/retail.plist")
        let diff = try await Sluice.run("diff", "old", "events", in: folder)
        #expect(diff.ending == .exit(0) && diff.errors == ["1 change: 1 compatible"])
    }

    @Test("new-event writes through a symbolic link, which stays a link")
    func link() async throws {
        let folder = try TestFolder()
        let target = try folder.write(Plans.shop(minimumQuantity: 1), to: "shared/shop.plist")
        try folder.write(Plans.shop(minimumQuantity: 1), to: "events/gone.plist")
        try FileManager.default.removeItem(atPath: folder.path("events/gone.plist"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("events/shop.plist"),
            withDestinationPath: target
        )
        #expect(try await Sluice.run("new-event", "Bought", in: folder).ending == .exit(0))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("events/shop.plist")) == target)
        #expect(try String(contentsOfFile: target, encoding: .utf8).contains("<key>Bought</key>"))
    }

    @Test("of several files, new-event changes the given one, or the only one with events of the owner")
    func files() async throws {
        let folder = try TestFolder()
        func write(_ name: String, _ event: String, owner: String) throws {
            let text = Plans.shop(minimumQuantity: 1).replacingOccurrences(
                of: "<key>Sold</key>\n        <dict>",
                with: "<key>\(event)</key>\n        <dict>\n<key>owner</key><string>\(owner)</string>"
            )
            try folder.write(text, to: "events/\(name).plist")
        }
        try write("a", "A", owner: "one")
        try write("b", "B", owner: "two")
        try write("c", "C", owner: "two")
        func run(_ arguments: String...) async throws -> Finished {
            try await Sluice.run(["new-event"] + arguments, in: folder)
        }
        #expect(try await run("N1", "--owner", "one").output.first?.hasPrefix("events/a.plist:") == true)
        #expect(try await run("N2", "--file", "./events/c.plist").output.first?.hasPrefix("events/c.plist:") == true)
        let all = "events/a.plist, events/b.plist, events/c.plist"
        for (arguments, sentence) in [
            (
                ["N3"],
                "error: the plan has several files; name one with --file: \(all)"
            ),
            (
                ["N3", "--owner", "two"],
                "error: several files have events of 'two'; name one with --file: events/b.plist, events/c.plist"
            ),
            (
                ["N3", "--owner", "three"],
                "error: the plan has several files, and none has events of 'three'; name one with --file: \(all)"
            ),
            (
                ["N3", "--file", "d.plist"],
                "error: 'd.plist' is not a file of the plan in 'events'; its files are: \(all)"
            ),
        ] {
            let run = try await Sluice.run(["new-event"] + arguments, in: folder)
            #expect(run.ending == .exit(1) && run.output == [])
            #expect(run.errors == [sentence])
        }
    }

    @Test(
        "new-event does not write an event that would make the plan invalid",
        arguments: [
            ("Sold", "the key 'Sold' is already defined on line 6 [duplicate-key]"),
            (
                "sold",
                "the event collides with 'Sold' at events/shop.plist:6:9: both become the table 'sold'; rename one"
            ),
            ("", "the name '' is empty [bad-name]"),
            ("a\u{7}b", "it contains a character that XML does not allow [malformed-plist]"),
        ]
    )
    func refusals(name: String, sentence: String) async throws {
        let folder = try TestFolder()
        let path = try folder.write(Plans.shop(minimumQuantity: 1), to: "events/shop.plist")
        let run = try await Sluice.run("new-event", name, in: folder)
        #expect(run.ending == .exit(1) && run.output == [])
        #expect(run.errors.joined(separator: "\n").contains(sentence), "\(run.errors)")
        #expect(run.errors.last?.contains("The event was not added") == true)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == Plans.shop(minimumQuantity: 1))
    }

    @Test("new-event refuses a blank owner, which is invalid in a plan", arguments: ["", " \t"])
    func blankOwner(owner: String) async throws {
        let folder = try TestFolder()
        let path = try folder.write(Plans.shop(minimumQuantity: 1), to: "events/shop.plist")
        let run = try await Sluice.run("new-event", "Bought", "--owner", owner, in: folder)
        #expect(run.ending == .exit(1) && run.output == [])
        #expect(run.errors.first?.contains("error: the owner is empty; name the team") == true, "\(run.errors)")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == Plans.shop(minimumQuantity: 1))
    }

    @Test("new-event does not change a plan with errors or a binary plist")
    func unreadable() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.broken, to: "events/shop.plist")
        let broken = try await Sluice.run("new-event", "New", in: folder)
        #expect(broken.ending == .exit(1))
        #expect(broken.errors.first?.hasPrefix("events/shop.plist:9:49: error: unknown tracker 'konsole'") == true)
        let xml = Data(Plans.shop(minimumQuantity: 1).utf8)
        let plan = try PropertyListSerialization.propertyList(from: xml, format: nil)
        let binary = try PropertyListSerialization.data(fromPropertyList: plan, format: .binary, options: 0)
        let path = try folder.write(binary, to: "events/shop.plist")
        let run = try await Sluice.run("new-event", "New", in: folder)
        #expect(run.ending == .exit(1))
        #expect(
            run.errors.first?.hasPrefix("error: events/shop.plist: a binary property list has no layout to keep")
                == true
        )
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == binary)
    }
}
