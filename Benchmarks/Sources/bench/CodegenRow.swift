import Foundation

/// A large plan: the time to generate Swift from it, and to compile that.
struct CodegenRow: Row {
    let name: String
    let what: String
    /// In seconds.
    fileprivate let limit: Double
    fileprivate let optimisation: [String]?

    static let generate = CodegenRow(
        name: "codegen",
        what: "1,000 events of six properties, from plist to Swift by a release build of the tool",
        limit: 2,
        optimisation: nil
    )

    static let debug = CodegenRow(
        name: "codegen-debug",
        what: "the Swift of these 1,000 events, compiled as a debug build does",
        limit: 60,
        optimisation: ["-Onone"]
    )

    static let release = CodegenRow(
        name: "codegen-release",
        what: "the same as a release build does",
        limit: 60,
        optimisation: ["-O", "-whole-module-optimization"]
    )

    func measure(at site: Site) throws -> Measurement {
        let folder = site.scratch + "/codegen"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try LargePlan.write(events: 1000, to: folder + "/large.plist")
        let output = folder + "/GeneratedEvents.swift"
        // Public, because the compiler removes unused internal declarations, which would be all of them.
        let generate = ["--root", folder, "--output", output, "--access-level", "public", folder + "/large.plist"]
        return try Measurement(
            of: self,
            unit: "s",
            rounds: site.rounds,
            goal: .atMost,
            with: [.constant("limit", limit)]
        ) {
            // The tool does not write a file that is up to date.
            try? FileManager.default.removeItem(atPath: output)
            let generation = try seconds(site.codegen, generate)
            guard let optimisation else { return generation }
            return try seconds("swiftc", optimisation + Self.compilation(of: output, in: folder, site))
        }
    }

    private func seconds(_ program: String, _ arguments: [String]) throws -> Double {
        let start = ContinuousClock.now
        try Child.run(program, arguments)
        return (ContinuousClock.now - start) / .seconds(1)
    }

    /// Compiles against the modules that were built for the command.
    private static func compilation(of file: String, in folder: String, _ site: Site) -> [String] {
        let build = URL(fileURLWithPath: site.sluice).deletingLastPathComponent().path
        let maps = [
            "\(build)/CRE2.build", "\(build)/CSimdJSON.build", "Sources/CLibraries/CLibSimdJSON",
            "Sources/CLibraries/CLibRE2",
            "Sources/CLibraries/CISAL", "Sources/CLibraries/CLibCrypto", "Sources/CLibraries/CXXHash",
            "Sources/CLibraries/CZlib",
        ]
        return ["-swift-version", "6", "-c", file, "-o", folder + "/events.o", "-module-name", "LargePlan"]
            + ["-I", "\(build)/Modules"] + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)/module.modulemap"] }
    }
}

/// A plan of any size, whose events vary as those of real plans do.
private enum LargePlan {
    private static let types = ["string", "integer", "number", "boolean", "timestamp", "uuid"]

    static func write(events: Int, to path: String) throws {
        let all = (0..<events).map(event).joined(separator: "\n")
        let plist = "<plist version=\"1.0\"><dict><key>events</key><dict>\n\(all)\n</dict></dict></plist>\n"
        try plist.write(toFile: path, atomically: true, encoding: .utf8)
    }

    private static func event(_ number: Int) -> String {
        let properties = (0..<6).map { property($0, type: types[(number + $0) % types.count]) }.joined(separator: "\n")
        return """
            <key>Event Number \(number) Seen</key><dict>
            <key>description</key><string>Something happened for the \(number)th time.</string>
            <key>owner</key><string>team \(number % 10)</string>
            <key>registeredTrackers</key><array><string>console</string><string>postgres</string></array>
            <key>payload</key><dict>\(properties)</dict></dict>
            """
    }

    private static func property(_ place: Int, type: String) -> String {
        let limit =
            switch type {
            case "integer": "<key>minimum</key><integer>1</integer>"
            case "string" where place % 2 == 0: "<key>maxLength</key><integer>100</integer>"
            case "string":
                "<key>enum</key><array>"
                    + (0..<5).map { "<string>value \($0)</string>" }.joined() + "</array>"
            default: ""
            }
        return """
            <key>property \(place)</key><dict><key>type</key><string>\(type)</string>
            <key>description</key><string>What property \(place) means.</string>\(limit)
            <key>required</key>\(place < 4 ? "<true/>" : "<false/>")</dict>
            """
    }
}
