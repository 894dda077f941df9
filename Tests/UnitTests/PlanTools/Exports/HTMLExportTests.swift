import EventSchema
import PlanTools
import Testing

@Suite("The exported HTML page")
struct HTMLExportTests {
    @Test("allows its own style and script by their digests, and nothing else")
    func policy() throws {
        let page = HTMLExport(TrackingPlan(events: [])).text
        let hash = """
            import base64, hashlib, re, sys
            page = sys.stdin.read()
            for tag in ("style", "script"):
                text = re.search(f"<{tag}>(.*?)</{tag}>", page, re.S).group(1)
                print("sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode())
            """
        let digests = try PythonProcess.run(hash, input: page)
        try #require(digests.count == 2)
        let policy = """
            default-src &#39;none&#39;; style-src &#39;\(digests[0])&#39;; script-src &#39;\(digests[1])&#39;; \
            base-uri &#39;none&#39;; form-action &#39;none&#39;
            """
        #expect(page.contains("content=\"\(policy)\""), "\(digests)")
    }

    @Test("shows everything that the plan states about each property")
    func properties() throws {
        let page = HTMLExport(try OwnPlan.read()).text
        for text in [
            "<b>invoiceNo</b>", "<code>^[A-Z]?[0-9]{6}$</code>", "<dt>At least</dt>", "1 to 20 characters",
            "<em>required</em>",
            "optional", "may be null", "<strong>Deprecated.</strong>", "other properties are allowed",
            "<span class=\"parent\">lines[].</span><b>unitPrice</b>", "array of object",
        ] {
            #expect(page.contains(text), "\(text)")
        }
    }
}
