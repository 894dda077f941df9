import EventModel
import EventValidation
import PlanReading
@_spi(Benchmarks) import SluicePostgres

/// Encodes arbitrary bytes as rows of PostgreSQL's binary COPY.
///
/// Each event that the check accepts must have a row. Bytes that nobody has checked may have none, but what is encoded must be whole
/// rows, because PostgreSQL would take what follows a wrong length for other rows.
@_cdecl("LLVMFuzzerTestOneInput")
public func encodeRows(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    encodeAccepted(bytes)
    encodeUnchecked(bytes)
    return 0
}

/// The project's own plan, which uses every type and every limit.
private let catalog: EventCatalog = {
    let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let reading = PlanReader().read(paths: ["/\(root)/events"])
    guard let plan = reading.plan else { preconditionFailure("the plan in events/ has errors: \(reading.diagnostics)") }
    return EventCatalog(plan: plan)
}()

// Safe: libFuzzer calls from one thread. Made once, because that takes longer than encoding most inputs.
private nonisolated(unsafe) var encoding = RowEncoding(catalog: catalog)

private func encodeAccepted(_ bytes: UnsafeRawBufferPointer) {
    let arrival = Timestamp(microseconds: 1_291_191_960_000_000)
    let validator = EventValidator(catalog: catalog, now: { arrival })
    guard let batch = (try? validator.check(bytes, as: .lines))?.batch else { return }
    precondition(encoding.encode(batch), "an event was accepted, and has no row")
    precondition(wholeRows(in: encoding.rows) == batch.count, "the rows of accepted events are not whole")
}

/// Tries the bytes as an event of each definition.
private func encodeUnchecked(_ bytes: UnsafeRawBufferPointer) {
    for index in 0..<encoding.definitionCount {
        let hasRow = encoding.encode(unchecked: bytes, ofDefinition: index)
        precondition(wholeRows(in: encoding.rows) == (hasRow ? 1 : 0), "a row is not whole, or a part of one is left")
    }
}

/// The number of rows; `nil` if the bytes are not rows from beginning to end.
private func wholeRows(in bytes: UnsafeRawBufferPointer) -> Int? {
    var (position, rows) = (0, 0)
    func take<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
        let size = MemoryLayout<Integer>.size
        guard bytes.count - position >= size else { return nil }
        defer { position += size }
        return Integer(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: Integer.self))
    }
    while position < bytes.count {
        guard let fields = take(Int16.self), fields > 0 else { return nil }
        for _ in 0..<fields {
            guard let length = take(Int32.self), length >= -1 else { return nil }
            position += max(0, Int(length))
            guard position <= bytes.count else { return nil }
        }
        rows += 1
    }
    return rows
}
