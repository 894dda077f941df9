import Foundation
import Sluice

/// An open file, and the thread on which the calls run that block.
actor LogFile {
    private let path: String
    private let thread: BlockingThread
    private var handle: FileHandle?

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(path: String) throws(TrackerError) {
        self.path = path
        thread = try BlockingThread()
    }

    /// Opens the file, unless it is open: a tracker is started again for a new plan.
    func open() throws(TrackerError) {
        guard handle == nil else { return }
        do {
            handle = try FileHandle(forWritingTo: URL(filePath: path))
        } catch {
            let message = "The log file cannot be opened; create it, and let the process write to it."
            throw TrackerError(code: .notPrepared, message: message, isRetryable: false, underlying: error)
        }
    }

    func append(_ delivery: Delivery) -> DeliveryOutcome {
        guard let handle, !Task.isCancelled else {
            return .retry(TrackerError(code: .cancelled, message: "The delivery was cancelled.", isRetryable: true))
        }
        var lines = Data()
        for event in delivery {
            lines.append(contentsOf: event.batch.line(at: event.index))
            lines.append(UInt8(ascii: "\n"))
        }
        do {
            let end = try handle.seekToEnd()
            do {
                try handle.write(contentsOf: lines)
                try handle.synchronize()
            } catch {
                // A line that was written in part would damage the file.
                try? handle.truncate(atOffset: end)
                throw error
            }
            return .delivered
        } catch {
            let message = "The log file cannot be written."
            return .retry(TrackerError(code: .unavailable, message: message, isRetryable: true, underlying: error))
        }
    }

    func close() {
        if let handle { try? handle.close() }
        handle = nil
    }
}
