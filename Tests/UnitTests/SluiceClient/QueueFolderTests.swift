import Foundation
import SluiceClient
import TestCases
import TestPromises
import Testing

@Suite("The client's queue on disk")
struct QueueFolderTests {
    private static let limits = QueueFolder.Limits(capacityInBytes: 1000, maximumBatchEvents: 3, maximumBatchBytes: 40)

    private static func line(_ text: String) -> [UInt8] { Array((text + "\n").utf8) }

    /// Calls `body` with a folder that does not exist yet.
    private static func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-queue-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    /// The lines of all batches, which are removed.
    private static func drain(_ queue: inout QueueFolder) throws -> [[String]] {
        var batches: [[String]] = []
        while !queue.batches.isEmpty {
            let text = String(decoding: try #require(try queue.contentsOfFirst()), as: UTF8.self)
            batches.append(text.split(separator: "\n").map(String.init))
            try queue.removeFirst()
        }
        return batches
    }

    @Test(
        "anything but a regular file in the folder is an error at once, and what a link leads to stays as it is",
        .promise("replaced-files"),
        arguments: ["lock", "00000000000000000001.ndjson", "00000000000000000002.ndjson"],
        HostileFile.allCases
    )
    func hostile(name: String, hostile: HostileFile) throws {
        try Self.withFolder { folder in
            do {
                var queue = try QueueFolder(path: folder, limits: Self.limits)
                for text in ["a", "b", "c", "d"] { try queue.append(Self.line(text)) }
            }
            let elsewhere = URL(fileURLWithPath: folder).deletingLastPathComponent()
                .appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: elsewhere) }
            try hostile.put(at: folder + "/" + name, elsewhere: elsewhere)
            let error = #expect(throws: ClientError.self) { try QueueFolder(path: folder, limits: Self.limits) }
            #expect(error?.description.contains(name) == true)
            #expect(!hostile.hasHarmed(elsewhere: elsewhere))
        }
    }

    @Test("events are in batches of limited size, in their order, and survive a new process")
    func batches() throws {
        try Self.withFolder { folder in
            let texts = ["a", "b", "c", "d", String(repeating: "e", count: 39), String(repeating: "f", count: 60), "g"]
            func fill() throws {
                var queue = try QueueFolder(path: folder, limits: Self.limits)
                for text in texts { try queue.append(Self.line(text)) }
            }
            try fill()
            var queue = try QueueFolder(path: folder, limits: Self.limits)
            #expect(queue.batches.map(\.events) == [3, 1, 1, 1, 1])
            #expect(queue.byteCount == texts.reduce(0) { $0 + $1.utf8.count + 1 })
            // A batch that an earlier process began gets no more events.
            try queue.append(Self.line("h"))
            #expect(try Self.drain(&queue) == [["a", "b", "c"], ["d"], [texts[4]], [texts[5]], ["g"], ["h"]])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["lock"])
        }
    }

    @Test("an incomplete last line is cut off, wherever the process was killed", .promise("client-queues"))
    func torn() throws {
        let text = Self.line("first") + Self.line("second")
        for length in 0...text.count {
            try Self.withFolder { folder in
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                let file = folder + "/00000000000000000007.ndjson"
                try Data(text.prefix(length)).write(to: URL(filePath: file))
                var queue = try QueueFolder(path: folder, limits: Self.limits)
                let whole = length == text.count ? ["first", "second"] : length >= 6 ? ["first"] : []
                #expect(queue.batches.map(\.events) == (whole.isEmpty ? [] : [whole.count]))
                try queue.append(Self.line("third"))
                #expect(try Self.drain(&queue) == (whole.isEmpty ? [] : [whole]) + [["third"]])
            }
        }
    }

    @Test("a full queue takes nothing more until there is room, and a second process cannot open it")
    func limits() throws {
        try Self.withFolder { folder in
            let limits = QueueFolder.Limits(capacityInBytes: 8, maximumBatchEvents: 1, maximumBatchBytes: 100)
            var queue = try QueueFolder(path: folder, limits: limits)
            try queue.append(Self.line("abc"))
            try queue.append(Self.line("def"))
            let full = #expect(throws: ClientError.self) { try queue.append(Self.line("g")) }
            #expect(full?.code == .full)
            let locked = #expect(throws: ClientError.self) { try QueueFolder(path: folder, limits: limits) }
            #expect(locked?.code == .locked)
            try queue.removeFirst()
            try queue.append(Self.line("h"))
            #expect(try Self.drain(&queue) == [["def"], ["h"]])
        }
    }

    @Test("a file that another program removes or shortens costs its own events, and no later ones")
    func removed() throws {
        try Self.withFolder { folder in
            var queue = try QueueFolder(path: folder, limits: Self.limits)
            for text in ["a", "b", "c", "d", "e"] { try queue.append(Self.line(text)) }
            let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != "lock" }.sorted()
            #expect(truncate(folder + "/" + files[0], 3) == 0)
            #expect(unlink(folder + "/" + files[1]) == 0)
            try queue.append(Self.line("f"))
            #expect(try queue.contentsOfFirst() == nil)
            #expect(try queue.repairFirst() == 2)
            #expect(try queue.contentsOfFirst() == Self.line("a"))
            try queue.removeFirst()
            #expect(try queue.contentsOfFirst() == nil)
            #expect(try queue.repairFirst() == 2)
            #expect(try Self.drain(&queue) == [["f"]])
        }
    }

    @Test("a write that fails leaves no empty batch and no part of a line")
    func failedWrite() async throws {
        // The limit holds for the whole process, so the queue has one of its own.
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 8, rlim_max: .max)
            try Self.withFolder { folder in
                var queue = try QueueFolder(path: folder, limits: Self.limits)
                #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                #expect(throws: ClientError.self) { try queue.append(Self.line("a long event")) }
                #expect(queue.batches.isEmpty)
                try queue.append(Self.line("one"))
                #expect(throws: ClientError.self) { try queue.append(Self.line("another")) }
                try queue.append(Self.line("two"))
                #expect(try Self.drain(&queue) == [["one", "two"]])
            }
        }
    }

    @Test("a folder that cannot be used is an error")
    func unusable() throws {
        try Self.withFolder { folder in
            try Data().write(to: URL(filePath: folder))
            let error = #expect(throws: ClientError.self) { try QueueFolder(path: folder, limits: Self.limits) }
            #expect(error?.code == .unusable)
        }
    }
}
