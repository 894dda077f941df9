import PlanReading

/// Reads arbitrary bytes as a file of a tracking plan.
///
/// Every input must give a plan or an error.
@_cdecl("LLVMFuzzerTestOneInput")
public func readPlan(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeRawBufferPointer(start: start, count: count))
    let reading = PlanReader().read([PlanSource(file: "fuzz.plist", bytes: bytes)])
    precondition(reading.plan != nil || !reading.diagnostics.isEmpty, "no plan, and no reason why not")
    return 0
}
