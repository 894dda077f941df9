import SluiceWebhook
import Testing

@Suite("The settings of a receiver")
struct ReceiverSettingsTests {
    @Test(
        "addresses that a request can have",
        arguments: [
            "http://a", "https://a.example/", "HTTPS://a:8443/b?c=d", "http://[::1]:80/x", "http://127.0.0.1:1",
            "http://a?b",
        ]
    )
    func addresses(url: String) {
        #expect(HTTPReceiver.problem(ofURL: url) == nil)
    }

    @Test(
        "other addresses are invalid",
        arguments: [
            "", "a", "a.example/x", "ftp://a", "http:/a", "http://", "http:///x", "http://:80", "http://a:0",
            "http://a:65536",
            "http://a:b", "http://user:password@a", "http://a/#b", "http://a/b c", "http://ä", "http://a/\n",
            "http://[::1", "http://[::1]x", "http://[]", "http://[]:80",
        ]
    )
    func invalidAddresses(url: String) {
        #expect(HTTPReceiver.problem(ofURL: url) != nil)
        #expect(HTTPReceiver.problem(ofURL: url)?.contains("password@") != true)
    }

    @Test("the path and the query are not printed, and nothing of what is no address")
    func redacted() {
        for (url, printed) in [
            ("https://a:8443", "https://a:8443"), ("http://a/", "http://a/"), ("http://a/b", "http://a/***"),
            ("http://a/?token=x", "http://a/***"), ("http://a?token=x", "http://a/***"), ("http://u:p@a/", "***"),
            ("token", "***"), ("", "***"),
        ] {
            #expect(HTTPReceiver.redacted(url: url) == printed)
        }
    }

    @Test("fields of the header", arguments: ["A: b", "X-Team:c", "x: a: b", "x:\ta"])
    func fields(entry: String) {
        #expect(HeaderEntry.problem(ofField: entry) == nil)
    }

    @Test(
        "malformed fields, and those that the tracker writes, are invalid",
        arguments: [
            "", "a", "a:", ": b", "a b: c", "ä: b", "a: b\r\nc: d", "Content-Length: 3", "webhook-ID: x", "a=b",
        ]
    )
    func invalidFields(entry: String) {
        #expect(HeaderEntry.problem(ofField: entry) != nil)
    }

    @Test("a field's value is not printed")
    func redactedField() {
        #expect(HeaderEntry.redacted("X-Token: abc") == "X-Token: ***")
        #expect(HeaderEntry.redacted("X-Token=abc") == "X-Token: ***")
        // An accent after the sign makes it another character.
        #expect(HeaderEntry.redacted("X-Token:\u{301}a:bc") == "X-Token: ***")
        #expect(HeaderEntry.redacted("X-Token=\u{301}a=bc") == "X-Token: ***")
    }

    @Test("fields with their values in files")
    func files() {
        #expect(HeaderEntry.problem(ofFile: "Authorization=/run/secrets/token") == nil)
        for entry in ["", "a", "a=", "=b", "a b=c", "Host=/x"] { #expect(HeaderEntry.problem(ofFile: entry) != nil) }
    }
}
