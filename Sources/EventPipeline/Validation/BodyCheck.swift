import EventModel
import EventSchema
import JSONTape

/// Takes a body apart into events, and checks each.
struct BodyCheck: ~Copyable {
    /// Above this an array is not parsed as one document: the parser's memory grows tenfold with its text.
    private static let maximumDocumentBytes = 256 << 10
    /// So many bytes of lines are parsed together.
    private static let maximumPieceBytes = 64 << 10
    /// After so many lines that are no documents, those that follow are parsed each alone.
    private static let maximumFailures = 8

    private let catalog: EventCatalog
    private let now: () -> Timestamp
    private let digest: LineDigest?
    private let maximumRejections: Int
    private let maximumEventBytes: Int
    private var parser = JSONParser()
    private var lineParser = JSONLineParser()
    private var input = PaddedInput()
    private var ids = EventIDGenerator()
    private var check: EventCheck
    /// How many lines were read before the current body.
    private var linesRead = 0

    init(
        catalog: EventCatalog,
        identity: EventIdentity,
        acceptsReceivedAt: Bool,
        maximumRejections: Int,
        maximumEventBytes: Int,
        now: @escaping () -> Timestamp
    ) {
        self.catalog = catalog
        self.maximumRejections = maximumRejections
        self.maximumEventBytes = maximumEventBytes
        self.now = now
        digest =
            switch identity {
            case .assigned: nil
            case .derived(let source): LineDigest(source: source)
            }
        check = EventCheck(plan: catalog.compiled, acceptsReceivedAt: acceptsReceivedAt)
    }

    /// Lets the next line count as this one.
    mutating func goOn(atLine line: Int) {
        linesRead = line - 1
    }

    mutating func check(
        _ body: UnsafeRawBufferPointer,
        as format: BodyFormat
    ) throws -> CheckedBody {
        check.arrival = now()
        let text = Self.skippingByteOrderMark(body)
        var collector = BatchCollector(bytesRead: text.count)
        switch format {
        case .lines: try checkLines(of: text, into: &collector)
        case .document: try checkDocument(input.fill(text), into: &collector)
        }
        guard hasRoom(collector) else {
            let expected = "at most \(maximumRejections) events that do not follow the plan"
            throw MalformedBody(violation: Violation(code: .tooLarge, path: "$", expected: expected, found: "more"))
        }
        return collector.finish(catalog: catalog)
    }

    private static func skippingByteOrderMark(_ body: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        body.starts(with: [0xEF, 0xBB, 0xBF]) ? UnsafeRawBufferPointer(rebasing: body.dropFirst(3)) : body
    }

    // MARK: Bodies

    /// Checks lines piece by piece, so that the parser's memory stays small.
    private mutating func checkLines(of text: UnsafeRawBufferPointer, into collector: inout BatchCollector) throws {
        var rest = text
        while !rest.isEmpty, hasRoom(collector) {
            let lines = UnsafeRawBufferPointer(rebasing: rest[..<Self.endOfLines(rest)])
            // The lines that follow are readable, as the parser wants it; only near the end there are too few.
            let isPadded = rest.count - lines.count >= JSONParser.padding
            try checkPiece(isPadded ? lines : input.fill(lines), into: &collector)
            rest = UnsafeRawBufferPointer(rebasing: rest[lines.count...])
        }
    }

    /// Where the last of the lines ends that make a piece, its newline counted in.
    private static func endOfLines(_ text: UnsafeRawBufferPointer) -> Int {
        guard text.count > maximumPieceBytes else { return text.count }
        let newline = UInt8(ascii: "\n")
        if let last = text[..<maximumPieceBytes].lastIndex(of: newline) { return last + 1 }
        let rest = UnsafeRawBufferPointer(rebasing: text[maximumPieceBytes...])
        return rest.firstIndex(ofByte: newline).map { maximumPieceBytes + $0 + 1 } ?? text.count
    }

    private mutating func checkPiece(_ text: UnsafeRawBufferPointer, into collector: inout BatchCollector) throws {
        // One line may be longer than a piece, and than an event.
        var isIndexed = text.count <= Self.maximumPieceBytes && lineParser.index(text)
        var failures = 0
        var position = 0
        while position < text.count, hasRoom(collector) {
            let rest = UnsafeRawBufferPointer(rebasing: text[position...])
            let end = position + (rest.firstIndex(ofByte: UInt8(ascii: "\n")) ?? rest.count)
            let line = UnsafeRawBufferPointer(rebasing: text[position..<end])
            linesRead += 1
            if isIndexed, let tape = lineParser.parse(position..<end) {
                check.begin(tape)
                checkEvent(at: tape.root, text: line, line: linesRead, into: &collector)
            } else if line.contains(where: { !JSONElements.isSpace($0) }) {
                try checkAlone(line, line: linesRead, into: &collector)
                // The parser may walk through all that follows a bracket that is left open, and again from the next one.
                failures += 1
                if failures == Self.maximumFailures { isIndexed = false }
            }
            position = end + 1
        }
    }

    private mutating func checkDocument(
        _ text: UnsafeRawBufferPointer,
        into collector: inout BatchCollector
    ) throws {
        let isArray = text.first { !JSONElements.isSpace($0) } == UInt8(ascii: "[")
        guard !isArray || text.count <= Self.maximumDocumentBytes else {
            return try checkElementsAlone(text, error: .syntax, into: &collector)
        }
        guard text.count <= maximumEventBytes else {
            return collector.reject(EventValidator.tooLarge(text), line: nil, id: nil, original: text)
        }
        do throws(JSONError) {
            let tape = try parser.parse(text)
            if isArray {
                checkElements(of: tape, text: text, into: &collector)
            } else {
                check.begin(tape)
                checkEvent(at: tape.root, text: text, line: nil, into: &collector)
            }
        } catch {
            if isArray { return try checkElementsAlone(text, error: error, into: &collector) }
            let violation = try EventValidator.violation(of: text, error: error)
            // What breaks no grammar is one event that does not follow the plan.
            guard violation.code != .malformedJSON else { throw MalformedBody(violation: violation) }
            collector.reject(violation, line: nil, id: nil, original: text)
        }
    }

    /// Checks the elements of an array that was parsed as one document.
    private mutating func checkElements(
        of tape: JSONTape,
        text: UnsafeRawBufferPointer,
        into collector: inout BatchCollector
    ) {
        check.begin(tape)
        let contents = tape.contents(of: tape.root)
        var element = contents.lowerBound
        var position = 0
        // Only a rejection asks where its bytes stand, so they are looked for when the first one comes.
        lazy var ranges = JSONElements.ranges(in: text) ?? []
        while element < contents.upperBound, hasRoom(collector) {
            checkEvent(at: element, text: nil, line: nil, into: &collector) {
                position < ranges.count ? UnsafeRawBufferPointer(rebasing: text[ranges[position]]) : text
            }
            element = tape.end(of: element)
            position += 1
        }
    }

    /// Checks each element of an array as a document of its own: what is wrong with one leaves the others alone.
    private mutating func checkElementsAlone(
        _ text: UnsafeRawBufferPointer,
        error: JSONError,
        into collector: inout BatchCollector
    ) throws {
        guard let ranges = JSONElements.ranges(in: text) else {
            throw MalformedBody(violation: try EventValidator.violation(of: text, error: error))
        }
        for range in ranges where hasRoom(collector) {
            try checkAlone(UnsafeRawBufferPointer(rebasing: text[range]), line: nil, into: &collector)
        }
    }

    /// Whether the body may have another rejection.
    private func hasRoom(_ collector: borrowing BatchCollector) -> Bool {
        collector.rejectionCount <= maximumRejections
    }

    /// Checks one event that is a document of its own.
    private mutating func checkAlone(
        _ text: UnsafeRawBufferPointer,
        line: Int?,
        into collector: inout BatchCollector
    ) throws {
        guard text.count <= maximumEventBytes else {
            return collector.reject(EventValidator.tooLarge(text), line: line, id: nil, original: text)
        }
        do throws(JSONError) {
            let tape = try parser.parse(text)
            check.begin(tape)
            checkEvent(at: tape.root, text: text, line: line, into: &collector)
        } catch {
            collector.reject(try EventValidator.violation(of: text, error: error), line: line, id: nil, original: text)
        }
    }

    // MARK: Events

    private mutating func checkEvent(
        at index: Int,
        text: UnsafeRawBufferPointer?,
        line: Int?,
        into collector: inout BatchCollector,
        original: () -> UnsafeRawBufferPointer? = { nil }
    ) {
        let arrival = check.arrival
        let result = check.check(at: index, into: &collector.output) { time in
            if let digest, let text, let line {
                digest.id(ofLine: line, bytes: text, at: time)
            } else {
                ids.next(at: arrival)
            }
        }
        if check.violations.isEmpty, let id = result.id {
            collector.accept(id: id, time: result.time ?? arrival, definitionIndex: result.definitionIndex)
        } else {
            collector.reject(
                check.violations,
                line: line,
                id: check.statedID,
                name: result.definitionIndex < 0 ? nil : catalog.definitions[result.definitionIndex].name,
                original: original() ?? text ?? UnsafeRawBufferPointer(start: nil, count: 0)
            )
        }
    }
}
