import EventSchema
import Foundation
import PlanTools
import PortDefinitions
import SluiceHTTP
import Testing

@Suite("The OpenAPI document and the server")
struct OpenAPIAgreementTests {
    @Test("have the same paths")
    func paths() {
        #expect(Set(OpenAPIExport.paths) == Set(ServedPaths.all))
        #expect(OpenAPIExport.paths.count == Set(OpenAPIExport.paths).count)
    }

    @Test(
        "HTTP.md has the codes of failed requests and of rejected events",
        arguments: [
            FailureCode.table, RejectionCode.table,
        ]
    )
    func page(table: String) throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Documentation/Send/HTTP.md"
        )
        // With the lines around it, so that the page has no row that the table lacks.
        #expect(try String(contentsOf: page, encoding: .utf8).contains("\n\n\(table)\n\n"))
    }

    @Test("each code of a rejected event has a sentence")
    func rejections() {
        #expect(RejectionCode.allCases.allSatisfy { $0.meaning.hasSuffix(".") })
    }

    @Test("the codes of failed requests are in the order of their statuses, and each has a sentence")
    func failures() {
        let statuses = FailureCode.allCases.map(\.status.rawValue)
        #expect(statuses == statuses.sorted())
        for code in FailureCode.allCases {
            #expect(code.meaning.hasSuffix("."))
            #expect("\(code.status.line)".hasPrefix("\(code.status.rawValue) "))
        }
    }

    @Test("every code of a failed request is in at least one answer")
    func used() {
        let limits = OpenAPIExport.Limits(
            bodyBytes: 1,
            events: 1,
            rejections: 1,
            explainedRejections: 1,
            answerBytes: 1,
            planBytes: 1,
            headerBytes: 1,
            headerFields: 1
        )
        let text = OpenAPIExport(TrackingPlan(events: []), limits: limits).text
        for code in FailureCode.allCases { #expect(text.contains("- `\(code.rawValue)`: "), "\(code)") }
    }
}
