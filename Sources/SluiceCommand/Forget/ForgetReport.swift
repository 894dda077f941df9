import EventModel
import TrackerKit

/// What `sluice forget` prints.
enum ForgetReport {
    /// Prints what a request would erase.
    static func show(_ preview: Erasure.Preview, includesShared: Bool) throws {
        let shared = preview.devices.filter(\.isShared)
        let own = preview.devices.count - shared.count
        try Terminal.print("\(own.of("anonymous id")) seen with no one else")
        if !includesShared { try show(shared: Set(shared.map(\.anonymousID))) }
        try show(counts: preview.counts, heading: "would be erased")
        try Terminal.print("Nothing was erased: this is a dry run.")
    }

    /// Lists the devices of several users, whose events without a user were kept.
    static func show(shared: Set<String>) throws {
        for device in shared.sorted() {
            try Terminal.print("shared device, not erased without --include-shared: \(device)")
        }
    }

    /// Prints a receipt.
    static func show(_ receipt: Receipt, at path: String) throws {
        try show(counts: receipt.erased, heading: "erased")
        try Terminal.print("remains:")
        for remainder in receipt.remains {
            let until = remainder.until.map { "until \($0)" } ?? "no date"
            try Terminal.print("  \(remainder.place) (\(until), \(remainder.task.rawValue)): \(remainder.note)")
        }
        try Terminal.print("receipt: \(path)")
    }

    /// Prints what receipts have erased again, or would erase.
    static func show(again erased: [Receipt.Erased], of receipts: Int, isDryRun: Bool) throws {
        try show(counts: erased, heading: isDryRun ? "would be erased" : "erased")
        let count: TerminalText = "\(receipts.of("receipt"))"
        try Terminal.print(isDryRun ? "Nothing was erased: this is a dry run of \(count)." : "\(count) applied")
    }

    private static func show(counts: [Receipt.Erased], heading: TerminalText) throws {
        if counts.isEmpty { return try Terminal.print("\(heading): nothing") }
        try Terminal.print("\(heading):")
        for count in counts { try Terminal.print("  \(count.tracker): \(count.events.of("row")) of \(count.place)") }
    }
}
