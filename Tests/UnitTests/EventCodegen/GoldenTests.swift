import EventCodegen
import EventSchema
import Foundation
import Testing

/// What the generator has to write is checked in, and compiled as a module of its own.
///
/// After a change that is meant, `scripts/golden.sh` writes it anew.
@Suite("Golden files of the generator")
struct GoldenTests {
    private static let root =
        URL(fileURLWithPath: #filePath).pathComponents.dropLast(3).joined(separator: "/") + "/Golden/"

    private static func generate(_ folder: String, options: CodegenOptions) throws -> String? {
        let plan = try #require(PlanReader().read(paths: [folder]).plan)
        return SwiftGenerator(options: options, root: folder).generate(plan).text
    }

    @Test("the generator writes what is checked in, byte for byte and each time", arguments: ["Shapes", "Names"])
    func unchanged(name: String) throws {
        let folder = Self.root + name
        let expected = try String(contentsOfFile: folder + "/GeneratedEvents.swift", encoding: .utf8)
        let options = CodegenOptions(accessLevel: .public)
        for _ in 0..<3 {
            let generated = try #require(try Self.generate(folder, options: options))
            #expect(Array(generated.utf8) == Array(expected.utf8))
        }
    }

    @Test("the plan's folder does not show in the output")
    func relocatable() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.copyItem(atPath: Self.root + "Shapes/shapes.plist", toPath: folder + "/shapes.plist")
        let options = CodegenOptions(accessLevel: .public)
        #expect(try Self.generate(folder, options: options) == Self.generate(Self.root + "Shapes", options: options))
    }

    @Test("access level and prefix show in every declaration")
    func options() throws {
        let folder = Self.root + "Shapes"
        let text = try #require(
            try Self.generate(folder, options: CodegenOptions(accessLevel: .package, typePrefix: "Shop"))
        )
        #expect(text.contains("package struct ShopEverything: EventPipeline.AnalyticsEvent"))
        #expect(text.contains("package static let shopEvents = EventPipeline.EventCatalog("))
        #expect(text.contains("package import EventPipeline"))
        #expect(!text.contains("public "))
        let plain = try #require(try Self.generate(folder, options: CodegenOptions()))
        #expect(!plain.contains("public ") && !plain.contains("package "))
    }
}
