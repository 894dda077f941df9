import EventModel
import EventValidation
package import TrackerKit

/// Reads and validates one source after the other, on a thread of its own.
package actor ReplayReader {
    private let thread: BlockingThread
    private let interrupt = Interrupt()
    private let selection: ReplaySelection
    private var inputs: ArraySlice<ReplayInput>
    private var current: (input: ReplayInput, source: any ReplaySource)?
    /// A sentence for each part of the input that could not be read.
    package private(set) var failures: [String] = []
    /// A sentence for each file in which there was something other than events.
    package private(set) var notes: [String] = []
    private var eventsOfSource = 0
    private var bytesOfClosedSources = 0

    /// The executor of the thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Creates a reader for `inputs`, in their order.
    ///
    /// - Throws: if the thread cannot be created.
    package init(_ inputs: [ReplayInput], _ selection: ReplaySelection) throws(TrackerError) {
        thread = try BlockingThread()
        self.inputs = inputs[...]
        self.selection = selection
    }

    /// The number of bytes read so far.
    package var bytesRead: Int { bytesOfClosedSources + (current?.source.bytesRead ?? 0) }

    /// Makes `next` return `nil`, even while it waits for input.
    package nonisolated func stop() { interrupt.raise() }

    /// The next part with its source; `nil` after the last.
    ///
    /// If a source or a part of it cannot be read, `next` adds a sentence to `failures` and continues after it.
    package func next() async -> (input: ReplayInput, part: ReplayPart)? {
        while !interrupt.isRaised, let (input, source) = openSource() {
            var part: ReplayPart?
            let failuresBefore = failures.count
            do {
                part = try await source.next()
            } catch {
                failures.append("\(input): \(error)")
            }
            failures += source.takeFailures().map { "\(input): \($0)" }
            if let part {
                eventsOfSource += part.checked.count
                return (input, part)
            }
            let isRead = failures.count == failuresBefore && !interrupt.isRaised
            if isRead, source is FileSource, eventsOfSource == 0, source.bytesRead > 0 {
                notes.append(
                    "\(input): no events in \(source.bytesRead.of("byte")): only white space, or carriage returns "
                        + "without line feeds"
                )
            }
            eventsOfSource = 0
            bytesOfClosedSources += source.bytesRead
            current = nil
        }
        return nil
    }

    /// The source that is being read, or the next one that can be opened.
    private func openSource() -> (input: ReplayInput, source: any ReplaySource)? {
        while current == nil, let input = inputs.popFirst() {
            do {
                current = (input, try input.open(selection, stop: interrupt))
            } catch {
                failures.append("\(input): \(error)")
            }
        }
        return current
    }
}
