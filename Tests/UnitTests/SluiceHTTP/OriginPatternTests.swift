import SluiceHTTP
import Testing

@Suite("Origins of web pages")
struct OriginPatternTests {
    @Test(
        "a pattern matches the origins that it names",
        arguments: [
            ("https://shop.example", "https://shop.example", true),
            ("https://Shop.Example", "https://shop.example", true),
            ("https://shop.example", "http://shop.example", false),
            ("https://shop.example", "https://shop.example:8443", false),
            ("https://shop.example:8443", "https://shop.example:8443", true),
            ("https://shop.example", "https://shop.example.evil.test", false),
            ("https://shop.example", "null", false),
            ("https://*.shop.example", "https://a.shop.example", true),
            ("https://*.shop.example", "https://a.b.shop.example", true),
            ("https://*.shop.example", "https://shop.example", false),
            ("https://*.shop.example", "https://.shop.example", false),
            ("https://*.shop.example", "https://evilshop.example", false),
            ("https://*.shop.example", "https://a.shop.example:8443", false),
            ("capacitor://localhost", "capacitor://localhost", true), ("app+x://a", "app+x://b", false),
            ("*", "https://anything.test", true), ("*", "null", true),
        ]
    )
    func matches(pattern: String, origin: String, expected: Bool) throws {
        #expect(try #require(OriginPattern(pattern)).matches(origin) == expected)
    }

    @Test(
        "what is no origin is no pattern",
        arguments: [
            "", "shop.example", "https://", "https://*", "https://a/b", "https://a b", "://a", "1a://b", "https://a:",
            "https://a:443", "http://a:80", "https://*.",
            "https://a\r\nx: y",
        ]
    )
    func invalid(pattern: String) {
        #expect(OriginPattern(pattern) == nil)
    }

    @Test(
        "without keys only the pages of this machine may send",
        arguments: [
            ("http://localhost:3000", true), ("https://LOCALHOST", true), ("http://127.0.0.1:8080", true),
            ("http://[::1]:3000", true), ("http://app.localhost:5173", true), ("http://localhost.evil.test", false),
            ("http://127.0.0.1.evil.test", false), ("https://shop.example", false), ("null", false), ("file://", false),
        ]
    )
    func loopback(origin: String, expected: Bool) {
        #expect(OriginPattern.loopback.matches(origin) == expected)
    }
}
