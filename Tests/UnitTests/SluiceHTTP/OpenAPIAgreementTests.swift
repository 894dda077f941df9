import EventSchema
import EventValidation
import PlanTools
import SluiceHTTP
import Testing

@Suite("The OpenAPI document and the server")
struct OpenAPIAgreementTests {
    @Test("have the same paths")
    func paths() {
        #expect(Set(OpenAPIExport.paths) == Set(ServedPaths.all))
        #expect(OpenAPIExport.paths.count == Set(OpenAPIExport.paths).count)
    }

    @Test("have the same codes of failed requests and of rejected events")
    func codes() {
        #expect(Set(OpenAPIExport.failureCodes) == Set(FailureCode.allCases.map(\.rawValue)))
        #expect(Set(OpenAPIExport.verdictCodes) == Set(VerdictCode.allCases.map(\.rawValue)))
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
