import EventSchema
internal import Foundation

#if canImport(FoundationXML)
internal import FoundationXML
#endif

/// An element of an XML document, before it is interpreted.
struct MarkupElement: Sendable, Hashable {
    var name: String
    /// The place of the start tag's `<`.
    var location: PlanLocation
    /// All character data directly within the element.
    var text = ""
    var children: [MarkupElement] = []
}

/// Reads XML into elements with their places, within the limits of `PlistReader`.
///
/// Foundation's parser decides what is well-formed. External entities are not resolved, and a document that declares
/// entities is refused, so no entity can expand.
enum MarkupReader {
    /// Reads a document in UTF-8; reports only the first problem, because nothing after it can be trusted.
    static func read(_ bytes: [UInt8], file: String) -> Result<MarkupElement, MarkupFailure> {
        if let problem = refusal(of: bytes, file: file) { return .failure(MarkupFailure(problem)) }
        let builder = MarkupBuilder(bytes, file: file)
        let parser = XMLParser(data: Data(bytes))
        parser.shouldResolveExternalEntities = false
        parser.delegate = builder
        _ = parser.parse()
        return builder.result
    }

    /// Reports what must not reach the parser.
    private static func refusal(of bytes: [UInt8], file: String) -> Diagnostic? {
        var scanner = StartTagScanner(bytes)
        var longTag: StartTagScanner.Position?
        while longTag == nil, let tag = scanner.nextTag() {
            if scanner.hasLongTag(at: tag.position) { longTag = tag.position }
        }
        func diagnostic(_ code: DiagnosticCode, at place: StartTagScanner.Position, _ sentence: String) -> Diagnostic {
            Diagnostic(code, at: PlanLocation(file: file, line: place.line, column: place.column), sentence)
        }
        // Foundation's parser takes a time that grows with the square of the number of attributes.
        if let longTag {
            let sentence = "a tag has more than \(StartTagScanner.maximumTagBytes) bytes; remove its attributes"
            return diagnostic(.malformedPlist, at: longTag, sentence)
        }
        if let place = scanner.internalSubset {
            let sentence = "the document type must not declare anything; remove everything between '[' and ']'"
            return diagnostic(.unsafeDoctype, at: place, sentence)
        }
        // Foundation's parser crashes on a processing instruction that consists only of a name.
        if let place = scanner.processingInstruction {
            return diagnostic(
                .malformedPlist,
                at: place,
                "a property list must not have processing instructions; remove '<?…?>'"
            )
        }
        return nil
    }
}

/// Why a document could not be read.
struct MarkupFailure: Error {
    let diagnostic: Diagnostic

    init(_ diagnostic: Diagnostic) {
        self.diagnostic = diagnostic
    }
}

/// Builds the tree from the parser's events, and stops the parser at the first problem.
private final class MarkupBuilder: NSObject, XMLParserDelegate {
    private let file: String
    private var scanner: StartTagScanner
    private var open: [MarkupElement] = []
    private var root: MarkupElement?
    private var failure: Diagnostic?
    private var elementCount = 0

    init(_ bytes: [UInt8], file: String) {
        self.file = file
        scanner = StartTagScanner(bytes)
    }

    var result: Result<MarkupElement, MarkupFailure> {
        if let failure { return .failure(MarkupFailure(failure)) }
        if let root, open.isEmpty { return .success(root) }
        let start = PlanLocation(file: file, line: 1, column: 1)
        return .failure(
            MarkupFailure(Diagnostic(.malformedPlist, at: start, "not a property list; it has no elements"))
        )
    }

    func parser(
        _ parser: XMLParser,
        didStartElement name: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard failure == nil else { return }
        guard let place = scanner.next(named: name) else {
            return fail(parser, .malformedPlist, "not a property list in UTF-8; save it in that encoding")
        }
        let location = PlanLocation(file: file, line: place.line, column: place.column)
        elementCount += 1
        if open.count > PlistReader.maximumDepth {
            return fail(parser, .tooDeep, PlistReader.tooDeepSentence, at: location)
        }
        if elementCount > PlistReader.maximumNodes {
            return fail(parser, .fileTooLarge, PlistReader.tooManyNodesSentence, at: location)
        }
        open.append(MarkupElement(name: name, location: location))
    }

    func parser(
        _ parser: XMLParser,
        didEndElement name: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) {
        guard failure == nil, let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        guard failure == nil, !open.isEmpty else { return }
        open[open.count - 1].text += string
    }

    func parser(_ parser: XMLParser, foundCDATA data: Data) {
        guard failure == nil, !open.isEmpty else { return }
        open[open.count - 1].text += String(decoding: data, as: UTF8.self)
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        fail(parser, .malformedPlist, "not a property list; \(Self.explanation(of: (error as NSError).code))")
    }

    private func fail(
        _ parser: XMLParser,
        _ code: DiagnosticCode,
        _ sentence: String,
        at location: PlanLocation? = nil
    ) {
        guard failure == nil else { return }
        let place = PlanLocation(file: file, line: max(1, parser.lineNumber), column: max(1, parser.columnNumber))
        failure = Diagnostic(code, at: location ?? place, sentence)
        parser.abortParsing()
    }

    /// The error codes are libxml2's; on Linux, Foundation does not pass on its messages.
    private static func explanation(of code: Int) -> String {
        switch code {
        case 4: "the document is empty"
        case 5: "the document has content after its end, or its end is missing"
        case 9: "it contains a character that XML does not allow"
        case 22, 23, 26: "it refers to an entity that is not declared; write '&amp;' for '&'"
        case 38, 39, 40, 41, 42, 65: "an attribute is malformed"
        case 68: "a name is expected after '<' or '&'; write '&lt;' and '&amp;' in text"
        case 73: "a tag is not closed with '>'"
        case 76: "a start tag and an end tag do not match"
        case 77: "an element is not closed before the end of the document"
        case 80: "a comment contains '--', which XML does not allow; write the line in it with other characters"
        case 81: "it is not in the encoding it claims; save it as UTF-8"
        default: "the XML is not well-formed (libxml2 error \(code))"
        }
    }
}

extension PlistReader {
    static let tooDeepSentence = "nodes are nested more than \(maximumDepth) deep; make the structure flatter"
    static let tooManyNodesSentence = "the file has more than \(maximumNodes) nodes; split the plan into several files"
}
