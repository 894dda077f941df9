import TestCases

/// Plan files that a person, an editor or a script might have written: any layout, comments anywhere.
struct GeneratedPlanFile {
    private var source: CaseSource
    private let newline: String
    private let unit: String
    private let isInline: Bool
    private var text = ""

    /// A file with up to four events.
    static func make(_ source: inout CaseSource) -> String {
        var file = GeneratedPlanFile(source: CaseSource(seed: source.next()))
        file.writeDocument()
        return file.text
    }

    private init(source: CaseSource) {
        self.source = source
        newline = self.source.pick(["\n", "\n", "\r\n", "\r"])
        unit = self.source.pick(["\t", "    ", "  ", ""])
        isInline = self.source.once(in: 5)
    }

    private mutating func writeDocument() {
        if source.once(in: 8) { text += "\u{FEFF}" }
        if source.once(in: 2) { text += #"<?xml version="1.0" encoding="UTF-8"?>"# + newline }
        if source.once(in: 3) { text += "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"a>b\">" + newline }
        comment()
        text += source.pick(["<plist version=\"1.0\">", "<plist>", "<plist version = '>' >"])
        line(0)
        text += "<dict>"
        if source.once(in: 2) { entry(1, "trackers") { $0.strings(1, ["console", "postgres", "Kafka"]) } }
        let count = source.number(0...4)
        if count > 0 || source.once(in: 2) {
            entry(1, "events") { file in file.dictionary(1, isEmpty: count == 0) { $0.events(count) } }
        } else {
            entry(1, "propertyGroups") { file in file.dictionary(1, isEmpty: true) { _ in } }
        }
        if source.once(in: 3) { entry(1, "version") { $0.text += "<string>2</string>" } }
        line(0)
        text += "</dict>"
        line(0)
        text += "</plist>" + (source.once(in: 2) ? newline : "")
    }

    private mutating func events(_ count: Int) {
        for name in ["Ordered", "Käufe &amp; 😀", "a &lt;b&gt;", "<![CDATA[x]]>"].prefix(count) {
            if source.once(in: 3) { text += newline }
            entry(2, name) { file in
                file.dictionary(2, isEmpty: false) {
                    $0.entry(3, "registeredTrackers") { $0.strings(3, ["console"]) }
                    if $0.source.once(in: 2) { $0.entry(3, "owner") { $0.text += "<string>checkout</string>" } }
                    if $0.source.once(in: 2) {
                        $0.entry(3, "payload") { file in
                            file.dictionary(3, isEmpty: false) {
                                $0.entry(4, "n") { $0.text += "<string>integer</string>" }
                            }
                        }
                    }
                }
            }
        }
    }

    // MARK: Parts

    private mutating func entry(_ depth: Int, _ key: String, _ value: (inout GeneratedPlanFile) -> Void) {
        comment()
        line(depth)
        text += "<key>\(key)</key>"
        if source.once(in: 3) { text += source.pick([" ", "", "\t"]) } else { line(depth) }
        value(&self)
        comment()
    }

    private mutating func dictionary(_ depth: Int, isEmpty: Bool, _ entries: (inout GeneratedPlanFile) -> Void) {
        if isEmpty, source.once(in: 2) { return text += source.pick(["<dict/>", "<dict />"]) }
        text += "<dict>"
        entries(&self)
        line(depth)
        text += source.pick(["</dict>", "</dict >"])
    }

    private mutating func strings(_ depth: Int, _ strings: [String]) {
        let isBlock = source.once(in: 2)
        text += "<array>"
        for string in strings {
            if isBlock { line(depth + 1) }
            text += "<string>\(string)</string>"
        }
        if isBlock { line(depth) }
        text += "</array>"
    }

    /// A comment whose text looks like markup.
    private mutating func comment() {
        guard source.once(in: 6) else { return }
        text += source.pick(["<!-- </dict> -->", "<!-- <key>events</key><dict> -->", " <!-- why -->", "<!--\"-->"])
    }

    private mutating func line(_ depth: Int) {
        if !isInline { text += newline + String(repeating: unit, count: depth) }
    }
}
