import EventModel
import Foundation
import TestCases
import TestPromises
import Testing

@Suite("Opening regular files")
struct RegularFileTests {
    private static func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    @Test(
        "an own file is neither opened nor read if it is anything but a regular file",
        arguments: HostileFile.allCases
    )
    func own(hostile: HostileFile) throws {
        try Self.withFolder { folder in
            let path = folder.appending(path: "file").path
            try hostile.put(at: path, elsewhere: folder)
            #expect(throws: RegularFile.Failure.self) { try RegularFile.contents(own: path) }
            for flags in [O_RDONLY, O_WRONLY, O_RDWR] {
                for created in [0, O_CREAT, O_CREAT | O_TRUNC] {
                    let error = #expect(throws: RegularFile.Failure.self) {
                        try RegularFile.open(own: path, flags | created)
                    }
                    #expect(error?.isMissing == false)
                }
            }
            #expect(!hostile.hasHarmed(elsewhere: folder))
        }
    }

    @Test(
        "a file that a user names may be a link to a regular file, and nothing else",
        .promise("replaced-files"),
        arguments: HostileFile.allCases
    )
    func given(hostile: HostileFile) throws {
        try Self.withFolder { folder in
            let path = folder.appending(path: "file").path
            try hostile.put(at: path, elsewhere: folder)
            guard hostile != .link else {
                let contents = try RegularFile.contents(given: path)
                #expect(String(decoding: contents, as: UTF8.self) == HostileFile.victimText)
                return
            }
            let error = #expect(throws: RegularFile.Failure.self) { try RegularFile.contents(given: path) }
            #expect(error?.isMissing == (hostile == .danglingLink))
        }
    }

    @Test("a regular file is read whole, and a pipe as a shell passes it")
    func regular() throws {
        try Self.withFolder { folder in
            let path = folder.appending(path: "file").path
            let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            #expect(try RegularFile.contents(own: path) == bytes)
            #expect(try RegularFile.contents(given: path) == bytes)
            let pipe = Pipe()
            try pipe.fileHandleForWriting.write(contentsOf: Data("secret\n".utf8))
            try pipe.fileHandleForWriting.close()
            let contents = try RegularFile.contents(given: "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)")
            #expect(String(decoding: contents, as: UTF8.self) == "secret\n")
        }
    }

    @Test("a file that is too large is an error, and not cut off")
    func large() throws {
        try Self.withFolder { folder in
            let path = folder.appending(path: "file").path
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.truncate(atOffset: UInt64(RegularFile.maximumBytes))
            #expect(try RegularFile.contents(own: path).count == RegularFile.maximumBytes)
            try file.truncate(atOffset: UInt64(RegularFile.maximumBytes) + 1)
            #expect(throws: RegularFile.Failure(errorNumber: EFBIG)) { try RegularFile.contents(own: path) }
        }
    }

    @Test("a missing file is reported as missing")
    func missing() throws {
        try Self.withFolder { folder in
            let path = folder.appending(path: "file").path
            #expect(throws: RegularFile.Failure(errorNumber: ENOENT)) { try RegularFile.contents(own: path) }
            #expect(throws: RegularFile.Failure(errorNumber: ENOENT)) { try RegularFile.contents(given: path) }
        }
    }
}
