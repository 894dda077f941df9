import EventCodegen
import EventSchema
import EventValidation
import Foundation
import GoldenShapes
import PlanReading
import Testing

/// The expected output is checked in, and is also compiled as a module of its own.
///
/// After an intended change, `scripts/golden.sh` regenerates it.
@Suite("Golden files of the generator")
struct GoldenTests {
    private static let root =
        URL(fileURLWithPath: #filePath).pathComponents.dropLast(3).joined(separator: "/") + "/Golden/"

    private static func generate(_ folder: String, options: CodegenOptions) throws -> String? {
        let plan = try #require(PlanReader().read(paths: [folder]).plan)
        return SwiftGenerator(options: options, root: folder).generate(plan).text
    }

    @Test("the code for the client differs only in the library that it names")
    func client() throws {
        let folder = Self.root + "Client"
        let expected = try String(contentsOfFile: folder + "/GeneratedEvents.swift", encoding: .utf8)
        let options = CodegenOptions(accessLevel: .public, namespace: "ClientShapes", library: .client)
        #expect(try Self.generate(folder, options: options) == expected)
        let service = try String(contentsOfFile: Self.root + "Shapes/GeneratedEvents.swift", encoding: .utf8)
        #expect(
            expected
                == service.replacingOccurrences(of: "ShapesEvents", with: "ClientShapes")
                .replacingOccurrences(of: "Sluice.", with: "SluiceClient.")
                .replacingOccurrences(of: "import Sluice", with: "import SluiceClient")
        )
    }

    @Test("the output equals the checked-in file, byte for byte, each time", arguments: ["Shapes", "Names"])
    func unchanged(name: String) throws {
        let folder = Self.root + name
        let expected = try String(contentsOfFile: folder + "/GeneratedEvents.swift", encoding: .utf8)
        let options = CodegenOptions(accessLevel: .public, namespace: name + "Events")
        for _ in 0..<3 {
            let generated = try #require(try Self.generate(folder, options: options))
            #expect(Array(generated.utf8) == Array(expected.utf8))
        }
    }

    @Test("the output does not depend on the plan's folder")
    func relocatable() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.copyItem(atPath: Self.root + "Shapes/shapes.plist", toPath: folder + "/shapes.plist")
        let options = CodegenOptions(accessLevel: .public)
        #expect(try Self.generate(folder, options: options) == Self.generate(Self.root + "Shapes", options: options))
    }

    @Test("every declaration has the access level, and is inside the namespace")
    func options() throws {
        let folder = Self.root + "Shapes"
        let text = try #require(
            try Self.generate(folder, options: CodegenOptions(accessLevel: .package, namespace: "Shop"))
        )
        #expect(text.contains("package enum Shop {"))
        #expect(text.contains("package struct Everything: Sluice.AnalyticsEvent"))
        #expect(text.contains("package static let catalog = Sluice.EventCatalog("))
        #expect(text.contains("package import Sluice"))
        #expect(!text.contains("public "))
        let plain = try #require(try Self.generate(folder, options: CodegenOptions()))
        #expect(!plain.contains("public ") && !plain.contains("package "))
    }

    @Test("a comment in the plan does not change the generated code")
    func comments() throws {
        let plist = try String(contentsOfFile: Self.root + "Shapes/shapes.plist", encoding: .utf8)
        func generate(_ text: String) throws -> String {
            let source = PlanSource(file: "shapes.plist", bytes: Array(text.utf8))
            let plan = try #require(PlanReader().read([source]).plan)
            return try #require(SwiftGenerator().generate(plan).text)
        }
        let commented = plist.replacing("<key>events</key>", with: "<!-- All of them. -->\n\n<key>events</key>")
        #expect(commented != plist)
        #expect(try generate(commented) == generate(plist))
    }

    @Test(
        "the namespace of a target is its name and Events, and never the module's own name",
        arguments: [
            ("Shop", "ShopEvents"), ("shop-app", "ShopAppEvents"), ("ShopEvents", "ShopPlan"), ("Events", "EventPlan"),
            ("2nd", "_2ndEvents"),
        ]
    )
    func namespaces(target: String, namespace: String) {
        #expect(CodegenOptions.namespace(ofTarget: target) == namespace)
    }
}
