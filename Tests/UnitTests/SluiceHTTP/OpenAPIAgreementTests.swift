import EventSchema
import EventValidation
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

    @Test("have the same codes of rejected events")
    func codes() {
        #expect(Set(OpenAPIExport.verdictCodes) == Set(VerdictCode.allCases.map(\.rawValue)))
    }

    @Test("HTTP.md has the table of the codes of failed requests")
    func page() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Documentation/Send/HTTP.md"
        )
        #expect(try String(contentsOf: page, encoding: .utf8).contains("\n\n\(FailureCode.table)\n"))
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
