import EventModel
import TrackerKit

/// What `sluice forget` prints.
enum ForgetReport {
    /// Prints what a request would erase.
    static func show(_ preview: Erasure.Preview, includesShared: Bool) throws {
        let shared = preview.devices.filter(\.isShared)
        let own = preview.devices.count - shared.count
        try Terminal.print("\(own.of("anonymous id")) seen with no other user")
        if !includesShared { try show(shared: Set(shared.map(\.anonymousID))) }
        try show(preview.counts, isDryRun: true)
        try Terminal.print("Nothing was changed: this is a dry run.")
    }

    /// Lists the devices of several users, whose events without a user were kept.
    static func show(shared: Set<ExactText>) throws {
        for device in shared.sorted() {
            try Terminal.print("shared device, not erased without --include-shared: \(device.text)")
        }
    }

    /// Prints a receipt.
    static func show(_ receipt: Receipt, at path: String) throws {
        try show(receipt.counts)
        try Terminal.print("remains:")
        for remainder in receipt.remains {
            let until = remainder.until.map { "until \($0)" } ?? "no date"
            try Terminal.print("  \(remainder.place) (\(until), \(remainder.task.rawValue)): \(remainder.note)")
        }
        try Terminal.print("receipt: \(path)")
    }

    /// Prints what receipts have erased or anonymised again, or would.
    static func show(again counts: Receipt.Counts, of receipts: Int, isDryRun: Bool) throws {
        try show(counts, isDryRun: isDryRun)
        if isDryRun, receipts > 1 {
            try Terminal.print("A row that several receipts concern is counted for each of them.")
        }
        let count: TerminalText = "\(receipts.of("receipt"))"
        try Terminal.print(isDryRun ? "Nothing was changed: this is a dry run of \(count)." : "\(count) applied")
    }

    private static func show(_ counts: Receipt.Counts, isDryRun: Bool = false) throws {
        if !counts.anonymised.isEmpty {
            try show(counts.anonymised, heading: isDryRun ? "would be anonymised" : "anonymised")
        }
        try show(counts.erased, heading: isDryRun ? "would be erased" : "erased")
    }

    private static func show(_ counts: [Receipt.Erased], heading: TerminalText) throws {
        if counts.isEmpty { return try Terminal.print("\(heading): nothing") }
        try Terminal.print("\(heading):")
        for count in counts { try Terminal.print("  \(count.tracker): \(count.events.of("row")) of \(count.place)") }
    }
}
