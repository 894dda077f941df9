import PlanReading
import Sluice

/// Reads arbitrary bytes as a file of a tracking plan.
///
/// Whatever they are, there is a plan or a reason why not.
@_cdecl("LLVMFuzzerTestOneInput")
public func readPlan(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeRawBufferPointer(start: start, count: count))
    let reading = PlanReader().read([PlanSource(file: "fuzz.plist", bytes: bytes)])
    precondition(reading.plan != nil || !reading.diagnostics.isEmpty, "no plan, and no reason why not")
    return 0
}
