internal import EventModel
import EventSchema

/// Converts the elements of an XML property list to nodes.
struct XMLPlistReader {
    private var diagnostics: [Diagnostic] = []

    /// Reads a document in UTF-8; see `PlistReader`.
    static func read(_ bytes: [UInt8], file: String) -> (root: PlistNode?, diagnostics: [Diagnostic]) {
        switch MarkupReader.read(bytes, file: file) {
        case .failure(let failure):
            return (nil, [failure.diagnostic])
        case .success(let document):
            var reader = XMLPlistReader()
            let root = reader.root(of: document)
            return (root, reader.diagnostics)
        }
    }

    private mutating func root(of document: MarkupElement) -> PlistNode? {
        guard document.name == "plist" else {
            report(
                .malformedPlist,
                document,
                "not a property list; the root element is <\(printable(document.name))>, not <plist>"
            )
            return nil
        }
        reportText(in: document)
        guard let first = document.children.first else {
            report(.malformedPlist, document, "the property list is empty")
            return nil
        }
        for extra in document.children.dropFirst() {
            report(.malformedPlist, extra, "a property list has one root; put everything into its <dict>")
        }
        return node(first)
    }

    private mutating func node(_ element: MarkupElement) -> PlistNode {
        PlistNode(value: value(element), place: PlistPlace(location: element.location))
    }

    private mutating func value(_ element: MarkupElement) -> PlistValue {
        switch element.name {
        case "dict":
            reportText(in: element)
            return .dictionary(entries(element))
        case "array":
            reportText(in: element)
            return .array(element.children.map { node($0) })
        default:
            reportChildren(of: element)
            return scalar(element)
        }
    }

    private mutating func scalar(_ element: MarkupElement) -> PlistValue {
        switch element.name {
        case "string": return .string(element.text)
        case "integer": return integer(element)
        case "real": return real(element)
        case "date": return date(element)
        case "data": return .data
        case "true", "false":
            reportText(in: element)
            return .boolean(element.name == "true")
        default:
            let names = ["dict", "array", "string", "integer", "real", "true", "false", "date", "data"]
            let hint = Spelling.hint(for: element.name, among: names, listedAs: "a plist has", quotes: ("<", ">"))
            report(.malformedPlist, element, "unknown element <\(printable(element.name))>; \(hint)")
            return .unreadable
        }
    }

    private mutating func entries(_ dictionary: MarkupElement) -> [PlistEntry] {
        var entries: [PlistEntry] = []
        var known: [String: PlanLocation] = [:]
        var key: MarkupElement?
        for child in dictionary.children {
            if child.name == "key" {
                if let lonely = key { reportLonely(lonely) }
                reportChildren(of: child)
                key = child
                continue
            }
            let value = node(child)
            guard let named = key else {
                report(.malformedPlist, child, "a value in a <dict> needs a <key> before it")
                continue
            }
            key = nil
            if let first = known[named.text] {
                report(.duplicateKey, named, "the key \(quoted(named.text)) is already defined on line \(first.line)")
                continue
            }
            known[named.text] = named.location
            let text = PlacedText(text: named.text, place: PlistPlace(location: named.location))
            entries.append(PlistEntry(key: text, value: value))
        }
        if let lonely = key { reportLonely(lonely) }
        return entries
    }

    // MARK: Scalars

    private mutating func integer(_ element: MarkupElement) -> PlistValue {
        let text = element.text.trimmingXMLSpaces
        if let integer = Int64(text) { return .integer(integer) }
        let digits = text.drop { $0 == "-" || $0 == "+" }
        if !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            report(.integerOverflow, element, "\(quoted(text)) does not fit in a 64-bit integer")
        } else {
            report(.malformedValue, element, "\(quoted(text)) is not an integer; write decimal digits")
        }
        return .unreadable
    }

    private mutating func real(_ element: MarkupElement) -> PlistValue {
        let text = element.text.trimmingXMLSpaces
        let isDecimal = text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
        if isDecimal, let real = Double(text), real.isFinite { return .real(real) }
        report(.malformedValue, element, "\(quoted(text)) is not a finite decimal number")
        return .unreadable
    }

    private mutating func date(_ element: MarkupElement) -> PlistValue {
        let text = element.text.trimmingXMLSpaces
        if let time = Timestamp(text) { return .date(time) }
        report(.malformedValue, element, "\(quoted(text)) is not a date; write it like 2026-01-31T12:00:00Z")
        return .unreadable
    }

    // MARK: Reports

    private mutating func reportText(in element: MarkupElement) {
        let text = element.text.trimmingXMLSpaces
        guard !text.isEmpty else { return }
        report(.malformedPlist, element, "<\(printable(element.name))> contains the stray text \(quoted(text))")
    }

    private mutating func reportChildren(of element: MarkupElement) {
        guard let child = element.children.first else { return }
        report(.malformedPlist, child, "<\(printable(element.name))> must not contain elements")
    }

    private mutating func reportLonely(_ key: MarkupElement) {
        report(.malformedPlist, key, "the key \(quoted(key.text)) has no value")
    }

    private mutating func report(_ code: DiagnosticCode, _ element: MarkupElement, _ sentence: String) {
        diagnostics.append(Diagnostic(code, at: element.location, sentence))
    }
}

extension String {
    /// The text without white space, as XML defines it, at both ends.
    fileprivate var trimmingXMLSpaces: String {
        func isSpace(_ scalar: Unicode.Scalar) -> Bool { [" ", "\t", "\n", "\r"].contains(scalar) }
        let scalars = unicodeScalars.drop(while: isSpace)
        let end = scalars.lastIndex { !isSpace($0) }
        return end.map { String(scalars[...$0]) } ?? ""
    }
}
