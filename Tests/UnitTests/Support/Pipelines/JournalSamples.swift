package import EventJournal
import TestCases

/// A few lines to be written to a journal.
package struct SampleEntry: JournalEntry {
    private let storage: Storage
    package let count: Int
    package let times: ClosedRange<Int64>

    private final class Storage: Sendable {
        // Safe to share: written only in `init`.
        nonisolated(unsafe) let bytes: UnsafeRawBufferPointer

        init(_ text: [UInt8]) {
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
            memory.copyBytes(from: text)
            bytes = UnsafeRawBufferPointer(memory)
        }

        deinit {
            bytes.deallocate()
        }
    }

    package init(_ lines: [String], times: ClosedRange<Int64> = 0...0) {
        storage = Storage(Array(lines.map { $0 + "\n" }.joined().utf8))
        count = lines.count
        self.times = times
    }

    package var lines: UnsafeRawBufferPointer { storage.bytes }
}

/// The result of reading a journal: the lines by number, and a sentence for everything else.
package struct JournalContents: Equatable {
    package var lines: [UInt64: String] = [:]
    package var damages: [Damage] = []
    /// The numbers in the order in which they were read.
    package var order: [UInt64] = []

    package init(_ journal: Journal, from sequence: UInt64 = 0) throws {
        var reader = journal.reader(from: sequence)
        reading: while true {
            switch try reader.next() {
            case .frame(let header, let lines):
                let texts = String(decoding: lines, as: UTF8.self).split(separator: "\n")
                for (position, text) in texts.enumerated() {
                    let number = header.firstSequence + UInt64(position)
                    self.lines[number] = String(text)
                    order.append(number)
                }
            case .damage(let damage): damages.append(damage)
            case .caughtUp: break reading
            }
        }
    }
}

extension JournalConfiguration {
    /// Small segments, so that a few events need several.
    package static func small(_ durability: Durability = .fsync) -> Self {
        var configuration = JournalConfiguration(durability: durability, minimumFreeBytes: 0)
        configuration.leastSegmentBytes = 1
        configuration.segmentBytes = 2000
        // More than a sector of the simulated disk.
        configuration.preallocationBytes = 800
        return configuration
    }
}
