package import EventSchema
package import PlanReading

/// A plan file in a test, in which `👉` marks each node that a problem is expected for.
package struct PlanFixture: CustomStringConvertible, Sendable {
    package static let file = "plan.plist"

    /// The file without the marks.
    package let xml: String
    /// The locations of the marks, in order; they are the beginnings of the expected problems.
    package let marks: [String]

    package var description: String { xml }

    /// A complete file.
    package init(_ marked: String) {
        var xml = ""
        var marks: [String] = []
        for part in marked.split(separator: "👉", omittingEmptySubsequences: false) {
            if !xml.isEmpty || part.startIndex != marked.startIndex {
                let lines = xml.split(separator: "\n", omittingEmptySubsequences: false)
                marks.append("\(lines.count):\((lines.last ?? "").utf8.count + 1)")
            }
            xml += part
        }
        self.xml = xml
        self.marks = marks
    }

    /// A file whose root dictionary has these nodes.
    package static func root(_ nodes: String) -> PlanFixture {
        PlanFixture("<plist>\n<dict>\n\(nodes)\n</dict>\n</plist>\n")
    }

    /// A file with one event `e`, whose dictionary has these nodes in addition to its tracker.
    package static func event(_ nodes: String, tracker: String = "console") -> PlanFixture {
        root(
            """
            <key>events</key>
            <dict>
              <key>e</key>
              <dict>
                <key>registeredTrackers</key> <array><string>\(tracker)</string></array>
                \(nodes)
              </dict>
            </dict>
            """
        )
    }

    /// A file with one event whose payload has these nodes.
    package static func payload(_ nodes: String, tracker: String = "console") -> PlanFixture {
        event("<key>payload</key>\n<dict>\n\(nodes)\n</dict>", tracker: tracker)
    }

    /// A file with one event that has one property `p`, whose dictionary has these nodes.
    package static func property(_ nodes: String) -> PlanFixture {
        payload("<key>p</key>\n<dict>\n\(nodes)\n</dict>")
    }

    package var source: PlanSource { PlanSource(file: Self.file, bytes: Array(xml.utf8)) }

    package func read() -> PlanReport { PlanReader().read([source]) }
}

extension PlanReport {
    /// `line:column code` of each problem.
    package var places: [String] {
        diagnostics.map { "\($0.location.line):\($0.location.column) \($0.code.rawValue)" }
    }

    /// The first property of the first event.
    package var firstProperty: PropertyDefinition? { plan?.events.first?.properties.first }
}
