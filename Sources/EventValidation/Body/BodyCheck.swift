@_spi(CanonicalJSON) import EventModel
import EventSchema
@_spi(CanonicalJSON) import JSONTape

/// Splits bodies into events, and checks each event.
///
/// The state of one body is in a `BodyProgress`; the parsers and their buffers are reused from body to body.
struct BodyCheck: ~Copyable {
    /// The maximum size of an array that is parsed as one document, because the parser needs ten times the memory of the text.
    private static let maximumDocumentBytes = 256 << 10
    /// The maximum size of lines that are parsed together.
    private static let maximumPieceBytes = 64 << 10
    /// After this number of invalid lines in a piece, its other lines are parsed one by one.
    private static let maximumFailures = 8

    private let catalog: EventCatalog
    private let now: () -> Timestamp
    /// Derives ids; `nil` if they are assigned.
    private var digest: LineDigest?
    private let maximumEvents: Int
    private let maximumRejections: Int
    private let maximumExplained: Int
    private let maximumEventBytes: Int
    private let maximumBatchBytes: Int
    private var parser = JSONParser()
    private var lineParser = JSONLineParser()
    private var input = PaddedInput()
    private var ids = EventIDGenerator()
    private var check: EventCheck
    /// Whether lines may be checked by their structure; only tests change it, to compare the two walks.
    var usesStructure = true
    /// The number of events accepted by their structure, without a tape.
    private(set) var structuralEvents = 0
    /// The number of lines read, in all bodies.
    private var linesRead = 0
    /// The number of rejections of the body at which the current turn ends.
    private var lastRejection = Int.max
    /// The number of events of the body at which the check ends.
    private var lastEvent = Int.max

    init(
        catalog: EventCatalog,
        identity: EventIdentity,
        acceptsReceivedAt: Bool,
        maximumEvents: Int,
        maximumRejections: Int,
        maximumExplained: Int,
        maximumEventBytes: Int,
        maximumIdentifierBytes: Int,
        maximumBatchBytes: Int,
        now: @escaping () -> Timestamp
    ) {
        self.catalog = catalog
        self.maximumEvents = maximumEvents
        self.maximumRejections = maximumRejections
        self.maximumExplained = maximumExplained
        self.maximumEventBytes = maximumEventBytes
        self.maximumBatchBytes = maximumBatchBytes
        self.now = now
        digest = LineDigest(identity)
        check = EventCheck(plan: catalog.compiled, acceptsReceivedAt: acceptsReceivedAt)
        check.maximumIdentifierBytes = maximumIdentifierBytes
    }

    /// Sets the number of the next line.
    mutating func setNextLine(_ line: Int) {
        linesRead = line - 1
    }

    /// Begins the check of a body of this size.
    func begin(
        bodyOf byteCount: Int,
        as format: BodyFormat,
        arrival: Timestamp?,
        eventTimes: TimeWindow?,
        nullIsAbsent: Bool,
        allowedEvents: EventSet?,
        excess: BodyExcess,
        additions: ContextAdditions,
        refusals: [Int: [Violation]]
    ) -> BodyProgress {
        BodyProgress(
            place: format.kind == .lines ? .lines(0) : .document,
            collector: BatchCollector(
                bytesRead: byteCount,
                maximumExplained: maximumExplained,
                maximumPositions: excess == .isCounted ? maximumRejections : .max
            ),
            arrival: arrival ?? now(),
            arrivesNow: arrival == nil,
            eventTimes: eventTimes,
            nullIsAbsent: nullIsAbsent,
            // A key may have been compiled for the plan before or after this one, while the plan is being replaced.
            allowedEvents: allowedEvents?.inPlan(of: catalog),
            excess: excess,
            additions: additions,
            refusals: refusals
        )
    }

    /// Continues the check of a body; returns whether it is complete.
    mutating func check(
        _ text: UnsafeRawBufferPointer,
        from progress: inout BodyProgress,
        within budget: inout CheckBudget
    ) throws -> Bool {
        guard !budget.isSpent else { return false }
        check.arrival = progress.arrival
        check.times = EventTimes(progress.eventTimes, arrival: progress.arrival)
        check.nullIsAbsent = progress.nullIsAbsent
        check.allowedEvents = progress.allowedEvents
        check.additions = progress.additions
        check.refusals = progress.refusals
        check.repeatsIDs = digest != nil && progress.arrivesNow
        check.maximumViolations = progress.collector.wantedViolations
        let rejections = progress.collector.rejectionCount
        // One rejection above the limit is enough to refuse the body.
        let allowed = progress.excess == .isCounted ? .max : maximumRejections - rejections
        lastRejection = rejections + min(allowed == .max ? .max : allowed + 1, .max - rejections, budget.rejections)
        lastEvent = progress.excess == .isCounted ? maximumEvents : .max
        defer { budget.rejections -= progress.collector.rejectionCount - rejections }
        switch progress.place {
        case .end: break
        case .lines(let position): try checkLines(of: text, from: position, &progress, &budget.bytes)
        case .document: try checkDocument(text, &progress, &budget.bytes)
        case .elements: break
        }
        if case .elements(var scanner, let error) = progress.place {
            progress.place = try checkElementsAlone(text, &scanner, error, &progress.collector, &budget.bytes)
        }
        try checkLimits(of: &progress)
        if case .end = progress.place { return true }
        return false
    }

    private func checkLimits(of progress: inout BodyProgress) throws {
        let events = progress.collector.eventCount
        if progress.collector.output.count > maximumBatchBytes { throw tooLarge(maximumBatchText, after: events) }
        switch progress.excess {
        case .refusesBody:
            if progress.collector.rejectionCount > maximumRejections {
                throw tooLarge("at most \(maximumRejections) events that do not follow the plan", after: events)
            }
            if events > maximumEvents { throw tooLarge("at most \(maximumEvents) events", after: events) }
        case .isCounted:
            if case .end = progress.place { return }
            guard events >= maximumEvents else { return }
            progress.collector.count(.tooLarge)
            progress.place = .end
        }
    }

    /// The result of a body whose check is complete.
    func finish(_ progress: consuming BodyProgress) -> CheckedBody {
        progress.collector.finish(catalog: catalog)
    }

    private var maximumBatchText: String {
        "a body whose events take at most \(maximumBatchBytes) bytes in canonical form"
    }

    private func tooLarge(_ expected: String, after events: Int) -> MalformedBody {
        MalformedBody(
            violation: Violation(code: .tooLarge, path: "$", expected: expected, found: "more"),
            checkedEvents: events
        )
    }

    // MARK: Bodies

    /// Checks lines in pieces, so that the parser's memory stays small.
    private mutating func checkLines(
        of text: UnsafeRawBufferPointer,
        from start: Int,
        _ progress: inout BodyProgress,
        _ bytes: inout Int
    ) throws {
        var position = start
        while position < text.count, bytes > 0, hasRoom(progress.collector) {
            let rest = UnsafeRawBufferPointer(rebasing: text[position...])
            let lines = UnsafeRawBufferPointer(rebasing: rest[..<Self.endOfLines(rest)])
            // The following lines serve as the padding that the parser requires, except near the end of the text.
            let isPadded = rest.count - lines.count >= JSONParser.padding
            let read = try checkPiece(isPadded ? lines : input.fill(lines), into: &progress.collector)
            position += read
            bytes -= read
        }
        progress.place = position < text.count ? .lines(position) : .end
    }

    /// The end of the last line of the first piece, including its newline.
    private static func endOfLines(_ text: UnsafeRawBufferPointer) -> Int {
        guard text.count > maximumPieceBytes else { return text.count }
        let newline = UInt8(ascii: "\n")
        if let last = text[..<maximumPieceBytes].lastIndex(of: newline) { return last + 1 }
        let rest = UnsafeRawBufferPointer(rebasing: text[maximumPieceBytes...])
        return rest.firstIndex(ofByte: newline).map { maximumPieceBytes + $0 + 1 } ?? text.count
    }

    /// Checks a piece of whole lines; returns the number of bytes read.
    private mutating func checkPiece(
        _ text: UnsafeRawBufferPointer,
        into collector: inout BatchCollector
    ) throws -> Int {
        // A single line may be longer than a piece, or longer than an event may be.
        var isIndexed = text.count <= Self.maximumPieceBytes && lineParser.index(text)
        var failures = 0
        var position = 0
        while position < text.count, hasRoom(collector) {
            let rest = UnsafeRawBufferPointer(rebasing: text[position...])
            let end = position + (rest.firstIndex(ofByte: UInt8(ascii: "\n")) ?? rest.count)
            let line = UnsafeRawBufferPointer(rebasing: text[position..<end])
            linesRead += 1
            digest?.add(line)
            if isIndexed, usesStructure, acceptByStructure(position..<end, text: line, into: &collector) {
                // Most events end here.
            } else if isIndexed, let tape = lineParser.parse(position..<end) {
                check.begin(tape)
                checkEvent(at: tape.root, text: line, line: linesRead, into: &collector)
            } else if line.contains(where: { !JSONElements.isSpace($0) }) {
                try checkAlone(line, line: linesRead, into: &collector)
                // For a bracket that is not closed, the parser may read the rest of the piece, and again from the next line.
                failures += 1
                if failures == Self.maximumFailures { isIndexed = false }
            }
            position = end + 1
        }
        return min(position, text.count)
    }

    private mutating func checkDocument(
        _ text: UnsafeRawBufferPointer,
        _ progress: inout BodyProgress,
        _ bytes: inout Int
    ) throws {
        let isArray = text.first { !JSONElements.isSpace($0) } == UInt8(ascii: "[")
        guard !isArray || text.count <= Self.maximumDocumentBytes else {
            return progress.place = .elements(JSONElementScanner(), .syntax)
        }
        bytes -= text.count
        progress.place = .end
        guard text.count <= maximumEventBytes else {
            return reject(.tooLarge(text), line: nil, text, into: &progress.collector)
        }
        let text = input.fill(text)
        do throws(JSONError) {
            let tape = try parser.parse(text)
            check.begin(tape)
            if isArray {
                progress.place = checkElements(of: tape, text: text, into: &progress.collector)
            } else {
                checkEvent(at: tape.root, text: text, line: nil, into: &progress.collector)
            }
        } catch {
            if isArray { return progress.place = .elements(JSONElementScanner(), error) }
            let violation = try Violation.of(error)
            // A text that is valid JSON is an event that does not follow the plan.
            guard violation.code != .malformedJSON else { throw MalformedBody(violation: violation) }
            reject(violation, line: nil, text, into: &progress.collector)
        }
    }

    /// Checks the elements of an array that was parsed as one document; returns where to continue.
    private mutating func checkElements(
        of tape: JSONTape,
        text: UnsafeRawBufferPointer,
        into collector: inout BatchCollector
    ) -> BodyProgress.Place {
        let contents = tape.contents(of: tape.root)
        var element = contents.lowerBound
        var position = 0
        // Only a rejection needs the position of its bytes, so they are searched for when there is one.
        var scanner = JSONElementScanner()
        var scanned = 0
        while element < contents.upperBound {
            guard hasRoom(collector) else {
                while scanned < position, case .element = scanner.next(in: text) { scanned += 1 }
                return .elements(scanner, .syntax)
            }
            checkEvent(at: element, text: nil, line: nil, into: &collector) {
                var found = text
                while scanned <= position, case .element(let range) = scanner.next(in: text) {
                    found = UnsafeRawBufferPointer(rebasing: text[range])
                    scanned += 1
                }
                return found
            }
            element = tape.end(of: element)
            position += 1
        }
        return .end
    }

    /// Checks each element of an array as a document of its own, so that an invalid one does not affect the others.
    ///
    /// - Returns: Where to continue.
    private mutating func checkElementsAlone(
        _ text: UnsafeRawBufferPointer,
        _ scanner: inout JSONElementScanner,
        _ error: JSONError,
        _ collector: inout BatchCollector,
        _ bytes: inout Int
    ) throws -> BodyProgress.Place {
        while bytes > 0, hasRoom(collector) {
            let start = scanner.position
            let step = scanner.next(in: text, limit: bytes < text.count - start ? start + bytes : text.count)
            bytes -= scanner.position - start
            switch step {
            case .element(let range):
                let element = UnsafeRawBufferPointer(rebasing: text[range])
                let isPadded = text.count - range.upperBound >= JSONParser.padding
                let isTooLarge = element.count > maximumEventBytes
                try checkAlone(isPadded || isTooLarge ? element : input.fill(element), line: nil, into: &collector)
            case .unfinished: break
            case .end: return .end
            case .broken: throw MalformedBody(violation: try .of(error))
            }
        }
        return .elements(scanner, error)
    }

    /// Whether the batch has room for another event, and this turn for another rejection.
    private func hasRoom(_ collector: borrowing BatchCollector) -> Bool {
        collector.rejectionCount < lastRejection && collector.output.count <= maximumBatchBytes
            && collector.eventCount < lastEvent
    }

    /// Checks one event that is a document of its own.
    private mutating func checkAlone(
        _ text: UnsafeRawBufferPointer,
        line: Int?,
        into collector: inout BatchCollector
    ) throws {
        guard text.count <= maximumEventBytes else {
            return reject(.tooLarge(text), line: line, text, into: &collector)
        }
        do throws(JSONError) {
            let tape = try parser.parse(text)
            check.begin(tape)
            checkEvent(at: tape.root, text: text, line: line, into: &collector)
        } catch {
            reject(try .of(error), line: line, text, into: &collector)
        }
    }

    // MARK: Events

    /// Accepts the event in an indexed line, if its structure shows that it is valid; false if it needs `checkEvent`.
    private mutating func acceptByStructure(
        _ range: Range<Int>,
        text: UnsafeRawBufferPointer,
        into collector: inout BatchCollector
    ) -> Bool {
        guard check.mayBeFlat, let structure = lineParser.structure(of: range) else { return false }
        let (arrival, line) = (check.arrival, linesRead)
        var places = 0
        let result = check.checkFlat(structure, places: &places, into: &collector.output) { time in
            digest?.id(ofLine: line, bytes: text, at: time) ?? ids.next(at: arrival)
        }
        guard let result, let id = result.id else { return false }
        collector.accept(id: id, time: result.time ?? arrival, definitionIndex: result.definitionIndex)
        lineParser.skip(places)
        structuralEvents &+= 1
        return true
    }

    private mutating func checkEvent(
        at index: Int,
        text: UnsafeRawBufferPointer?,
        line: Int?,
        into collector: inout BatchCollector,
        original: () -> UnsafeRawBufferPointer? = { nil }
    ) {
        let arrival = check.arrival
        check.position = collector.eventCount
        let result = check.check(at: index, into: &collector.output) { time in
            if let digest, let text, let line {
                digest.id(ofLine: line, bytes: text, at: time)
            } else {
                ids.next(at: arrival)
            }
        }
        guard let code = check.firstCode else {
            // An event without violations has an id.
            guard let id = result.id else { return }
            return collector.accept(id: id, time: result.time ?? arrival, definitionIndex: result.definitionIndex)
        }
        let isDescribed = check.maximumViolations > 0
        let (violations, id) = (check.violations, isDescribed ? check.statedID : nil)
        let definitionIndex = result.definitionIndex < 0 ? nil : result.definitionIndex
        let name = definitionIndex.map { catalog.definitions[$0].name }
        let kind = RejectionTally.Kind(event: name, code: code)
        func reject(_ original: UnsafeRawBufferPointer) {
            collector.reject(kind, violations, line: line, id: id, original: original)
        }
        if isDescribed, check.sensitive.concernsRejections {
            let treated = check.treatedOriginal(at: index, definitionIndex: result.definitionIndex)
            // A hash is longer than a short value, and many of them would multiply what the quarantine stores.
            let limit = 2 * ((text ?? original())?.count ?? 0) + Self.treatedBytesBesidesEvent
            (treated.count <= limit ? treated : Self.withheld).withUnsafeBytes(reject)
        } else {
            reject((isDescribed ? original() : nil) ?? text ?? UnsafeRawBufferPointer(start: nil, count: 0))
        }
        check.maximumViolations = collector.wantedViolations
    }

    /// Rejects a text that was not compared with the plan.
    private mutating func reject(
        _ violation: Violation,
        line: Int?,
        _ text: UnsafeRawBufferPointer,
        into collector: inout BatchCollector
    ) {
        if check.sensitive.concernsRejections {
            Self.withheld.withUnsafeBytes { collector.reject(violation, line: line, original: $0) }
        } else {
            collector.reject(violation, line: line, original: text)
        }
        check.maximumViolations = collector.wantedViolations
    }

    /// How much longer than twice the event its text may be after values were hashed, in bytes.
    private static let treatedBytesBesidesEvent = 4 << 10

    /// What the quarantine gets instead of a text in which nothing can be found.
    private static let withheld = Array(
        "The event is not stored: it cannot be read, and may contain values that the plan protects.".utf8
    )
}
