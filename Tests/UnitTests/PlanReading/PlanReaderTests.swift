import EventSchema
import Foundation
import PlanReading
import TestCases
import Testing

@Suite("Plan files and folders")
struct PlanReaderTests {
    private static func event(_ key: String, tracker: String = "console") -> String {
        "<key>\(key)</key><dict><key>registeredTrackers</key><array><string>\(tracker)</string></array></dict>"
    }

    private static func file(_ events: String, _ rest: String = "") -> String {
        "<plist><dict>\(rest)<key>events</key><dict>\(events)</dict></dict></plist>"
    }

    /// Writes files to a temporary folder, and reads it before it is removed.
    private func withFolder(_ files: [String: String], _ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in files { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }
        try body(folder.path)
    }

    @Test("files whose names differ only in Unicode normalization are all read")
    func normalization() throws {
        // A file system that does not tell the names apart has one of them.
        try withFolder(["\u{e9}.plist": Self.file(Self.event("A"))]) { folder in
            let other = folder + "/e\u{301}.plist"
            try Data(Self.file(Self.event("B")).utf8).write(to: URL(fileURLWithPath: other))
            let count = try FileManager.default.contentsOfDirectory(atPath: folder).count
            #expect(PlanReader().read(paths: [folder]).plan?.events.count == count)
        }
    }

    @Test("a folder is read as its *.plist files in the order of their names")
    func folder() throws {
        let files = [
            "b.plist": Self.file(Self.event("B")), "a.PLIST": Self.file(Self.event("A")), "c.txt": "no plan",
            ".d.plist": "no plan",
        ]
        try withFolder(files) { folder in
            try FileManager.default.createDirectory(atPath: folder + "/sub", withIntermediateDirectories: false)
            let reading = PlanReader().read(paths: [folder + "/"])
            #expect(reading.diagnostics == [])
            #expect(reading.plan?.events.map(\.name) == ["A", "B"])
            #expect(reading.plan?.events.map(\.location.file) == [folder + "/a.PLIST", folder + "/b.plist"])
        }
    }

    @Test("a file that is reachable by two paths is read once")
    func twice() throws {
        try withFolder(["a.plist": Self.file(Self.event("A"))]) { folder in
            let reading = PlanReader().read(paths: [
                folder, folder + "/a.plist", folder + "/../" + URL(fileURLWithPath: folder).lastPathComponent,
            ])
            #expect(reading.diagnostics == [])
            #expect(reading.plan?.events.count == 1)
        }
    }

    @Test("a plan without files is an error, and one empty folder among others a warning")
    func empty() throws {
        try withFolder([:]) { empty in
            let alone = PlanReader().read(paths: [empty])
            #expect(
                alone.diagnostics.map(\.description) == [
                    "\(empty):1:1: error: there is no *.plist file in this folder [no-plan-files]"
                ]
            )
            #expect(alone.plan == nil)
            try withFolder(["a.plist": Self.file(Self.event("A"))]) { folder in
                let both = PlanReader().read(paths: [folder, empty])
                #expect(both.diagnostics.map(\.code) == [.emptyFolder])
                #expect(both.plan?.events.count == 1)
            }
            let unknown = Self.file(Self.event("A"), "<key>trackers</key><array/>")
            try withFolder(["a.plist": unknown]) { folder in
                let both = PlanReader().read(paths: [empty, folder])
                #expect(both.diagnostics.map(\.code) == [.emptyFolder, .unknownTracker])
            }
        }
        #expect(PlanReader().read(paths: []).diagnostics.map(\.code) == [.noPlanFiles])
    }

    @Test("an unreadable file is an error that does not hide other errors")
    func unreadable() throws {
        try withFolder(["a.plist": Self.file(Self.event("A") + "<key>b</key><true/>")]) { folder in
            let reading = PlanReader().read(paths: [folder + "/none.plist", folder])
            #expect(reading.diagnostics.map(\.code) == [.unreadableFile, .wrongNodeType])
            #expect(reading.diagnostics.first?.sentence == "there is no such file or folder")
        }
        try withFolder([:]) { folder in
            try FileManager.default.createDirectory(atPath: folder + "/x.plist", withIntermediateDirectories: false)
            let reading = PlanReader().read(paths: [folder])
            #expect(reading.diagnostics.map(\.code) == [.unreadableFile])
            #expect(reading.diagnostics.first?.sentence == "cannot be read: Is a directory")
        }
    }

    // MARK: Across files

    private func read(_ files: String...) -> PlanReport {
        let names = ["a.plist", "b.plist", "c.plist"]
        return PlanReader().read(zip(names, files).map { PlanSource(file: $0, bytes: Array($1.utf8)) })
    }

    @Test("wire names are unique across files")
    func duplicates() {
        let reading = read(Self.file(Self.event("A")), Self.file(Self.event("A")))
        #expect(
            reading.diagnostics.map(\.description) == [
                "b.plist:1:37: error: the event 'A' is already defined at a.plist:1:37; rename one [duplicate-event]"
            ]
        )
    }

    @Test("property groups and declared trackers apply to all files")
    func shared() {
        let shared = """
            <plist><dict><key>trackers</key><array><string>Console</string></array>
            <key>propertyGroups</key><dict><key>g</key><dict><key>p</key><string>any</string></dict></dict></dict></plist>
            """
        let event = """
            <key>A</key><dict><key>registeredTrackers</key><array><string>console</string></array>
            <key>include</key><array><string>g</string></array></dict>
            """
        let reading = read(shared, Self.file(event))
        #expect(reading.diagnostics == [])
        #expect(reading.plan?.events.first?.properties.map(\.location.file) == ["a.plist"])
        #expect(
            read(shared, Self.file(event), Self.file(Self.event("B", tracker: "kafka"))).places == [
                "1:91 unknown-tracker"
            ]
        )
    }

    @Test("the rules for tables apply to a tracker that any file lists in 'postgresTrackers'")
    func postgresTrackers() throws {
        let declaration = """
            <plist><dict><key>postgresTrackers</key><array><string>warehouse</string></array></dict></plist>
            """
        let event = """
            <key>A</key><dict><key>registeredTrackers</key><array><string>Warehouse</string></array>
            <key>payload</key><dict><key>itemURL</key><string>any</string><key>itemUrl</key><string>any</string></dict>
            </dict>
            """
        #expect(read(Self.file(event)).diagnostics == [])
        let reading = read(Self.file(event), declaration)
        #expect(reading.diagnostics.map(\.code) == [.sqlNameCollision])
        let plan = try #require(read(Self.file(event)).plan)
        #expect(plan.events.first?.postgresTrackers == [])
    }

    @Test("a name in 'postgresTrackers' that the plan does not declare is an unknown tracker")
    func unknownPostgresTracker() {
        let declaration = """
            <plist><dict><key>trackers</key><array><string>console</string></array>
            <key>postgresTrackers</key><array><string>warehouse</string></array></dict></plist>
            """
        #expect(read(declaration, Self.file(Self.event("A", tracker: "console"))).places == ["2:35 unknown-tracker"])
    }

    @Test("names that a damaged file might have declared are not reported as unknown")
    func damaged() {
        let event = """
            <key>A</key><dict><key>registeredTrackers</key><array><string>console</string></array>
            <key>include</key><array><string>g</string></array></dict>
            """
        #expect(read("<plist><dict>", Self.file(event)).diagnostics.map(\.code) == [.malformedPlist])
    }

    @Test("two groups with the same name are an error, and two versions a warning")
    func conflicts() {
        let group = "<key>propertyGroups</key><dict><key>g</key><dict/></dict>"
        let including = """
            <key>A</key><dict><key>registeredTrackers</key><array><string>console</string></array>\
            <key>include</key><array><string>g</string></array></dict>
            """
        let groups = read(Self.file(including, group), Self.file(Self.event("B"), group))
        #expect(
            groups.diagnostics.map(\.description) == [
                "b.plist:1:45: error: the property group 'g' is already defined at a.plist:1:45; rename one [duplicate-property-group]"
            ]
        )
        func version(_ text: String) -> String { "<key>version</key><string>\(text)</string>" }
        let versions = read(Self.file(Self.event("A"), version("1")), Self.file(Self.event("B"), version("2")))
        #expect(
            versions.diagnostics.map(\.description) == [
                "b.plist:1:32: warning: the version is '2' here and '1' at a.plist:1:32; the first one counts "
                    + "[conflicting-versions]"
            ]
        )
        #expect(versions.plan?.version == "1")
    }
}
