import TrackerKit

/// The output and the thread that blocks on it.
actor ConsoleSession {
    private let output: OutputDescriptor
    private let thread: BlockingThread
    private var lines = LineBuffer()

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Starts the thread.
    ///
    /// - Throws: `unavailable` if the system refuses a thread.
    init(_ configuration: ConsoleConfiguration) throws(TrackerError) {
        thread = try BlockingThread()
        output = OutputDescriptor(configuration.fileDescriptor)
    }

    /// Writes a line for each event, and retries from the first event whose line was not written completely.
    func deliver(
        _ delivery: Delivery,
        format: ConsoleConfiguration.Format,
        _ interrupt: Interrupt
    ) -> DeliveryOutcome {
        lines.removeAll()
        for event in delivery { lines.append(event, format: format) }
        var written = 0
        while written < lines.bytes.count {
            do throws(TrackerError) {
                written += try output.writeSome(of: lines.bytes, from: written, interrupt)
            } catch {
                let first = lines.countOfLines(endingBy: written)
                return DeliveryOutcome(retry: .init(positions: Array(first..<delivery.count), reason: error))
            }
        }
        return .delivered
    }
}
