import EventModel
import EventValidation
import PlanReading

/// Checks arbitrary bytes as a document and as lines, and checks the accepted events again.
///
/// Four things must hold besides not crashing: each line of a batch is accepted again, the second check encodes it to the
/// same bytes, each line of a body gets the same verdict as alone, and lines have the same result with and without the short walk
/// over their structure.
@_cdecl("LLVMFuzzerTestOneInput")
public func checkEvents(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    let validator = EventValidator(catalog: catalog, now: { arrival })
    for format in [BodyFormat.document, .lines] {
        guard let checked = try? validator.check(bytes, as: format), let batch = checked.batch else { continue }
        checkAgain(batch)
    }
    checkAlone(bytes)
    checkBothWalks(bytes)
    return 0
}

private let arrival = Timestamp(microseconds: 1_291_191_960_000_000)

/// The project's own plan, which uses every type and every limit.
private let catalog: EventCatalog = {
    let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let reading = PlanReader().read(paths: ["/\(root)/events"])
    guard let plan = reading.plan else { preconditionFailure("the plan in events/ has errors: \(reading.diagnostics)") }
    return EventCatalog(plan: plan)
}()

private func checkAgain(_ batch: EventBatch) {
    let validator = EventValidator(catalog: catalog, acceptsReceivedAt: true, now: { arrival })
    guard let checked = try? validator.check(batch.lines, as: .lines), let again = checked.batch else {
        preconditionFailure("what was accepted is no longer JSON")
    }
    precondition(checked.rejections.isEmpty, "accepted, and then not: \(checked.rejections)")
    precondition(again.lines.elementsEqual(batch.lines), "the canonical form is not its own canonical form")
}

private func checkBothWalks(_ bytes: UnsafeRawBufferPointer) {
    func check(byStructure usesStructure: Bool) -> CheckedBody? {
        // Derived ids are the same each time.
        let validator = EventValidator(
            catalog: catalog,
            identity: .derived(source: "fuzz"),
            acceptsReceivedAt: true,
            now: { arrival }
        )
        validator.setUsesStructure(usesStructure)
        return try? validator.check(bytes, as: .lines)
    }
    let (short, long) = (check(byStructure: true), check(byStructure: false))
    let lines = [short, long].map { $0?.batch.map { Array($0.lines) } }
    precondition(lines[0] == lines[1], "the walks write different lines")
    let entries = [short, long].map { $0?.batch?.entries.map { "\($0)" } }
    precondition(entries[0] == entries[1], "the walks find different ids or times")
    let rejections = [short, long].map { $0?.rejections.map { "\($0)" } }
    precondition(rejections[0] == rejections[1], "the walks give different verdicts")
}

private func checkAlone(_ bytes: UnsafeRawBufferPointer) {
    let validator = EventValidator(catalog: catalog, now: { arrival })
    // A byte order mark counts before the first line only, and each line on its own is a first line.
    guard !bytes.contains(where: { [0xEF, 0xFE].contains($0) }),
        let together = try? validator.check(bytes, as: .lines)
    else { return }
    var (accepted, rejected) = (0, 0)
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
        guard let checked = try? validator.check(UnsafeRawBufferPointer(rebasing: line), as: .lines) else { continue }
        accepted += checked.batch?.count ?? 0
        for rejection in checked.rejections {
            precondition(rejected < together.rejections.count, "a line is rejected alone, and taken with others")
            precondition(rejection.violations == together.rejections[rejected].violations, "another verdict alone")
            rejected += 1
        }
    }
    precondition(accepted == together.batch?.count ?? 0, "a line is taken alone, and rejected with others")
}
