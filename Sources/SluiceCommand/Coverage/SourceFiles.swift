import Foundation

/// The files under some paths, and what is in them.
struct SourceFiles {
    /// A file that was not looked into, and why.
    struct Passed: Encodable {
        var path: String
        var reason: String
    }

    static let noText = "no text"
    static let generated = "generated from a plan, or JSON Schemas"
    /// Beyond this no person has written it.
    private static let maximumBytes = 8 << 20
    /// So many bytes of a text hold no NUL.
    private static let binaryProbe = 8_192
    /// Folders with what others wrote.
    private static let foreignFolders: Set = ["node_modules", "Pods", "Carthage"]
    /// Documents speak of events, and send none.
    private static let documents: Set = ["plist", "md", "rst", "adoc", "txt"]

    /// How many files were looked into.
    private(set) var count = 0
    /// What is no text, or none that a person wrote.
    private(set) var skipped: [Passed] = []
    /// What could not be read.
    private(set) var unreadable: [Passed] = []
    private var known: Set<String> = []

    /// Hands each file to `look`, with its path and bytes; a folder's files are taken in the order of their names.
    ///
    /// Within a folder no link is followed, so that none can lead in a circle, and what begins with a dot is left out.
    mutating func forEach(under paths: [String], _ look: (String, [UInt8]) -> Void) {
        for path in paths {
            let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            visit(path, at: resolved, isNamed: true, look)
        }
    }

    private mutating func visit(_ path: String, at real: String, isNamed: Bool, _ look: (String, [UInt8]) -> Void) {
        let type: FileAttributeType?
        do {
            type = try FileManager.default.attributesOfItem(atPath: real)[.type] as? FileAttributeType
        } catch {
            return unreadable.append(Passed(path: path, reason: Self.reason(error)))
        }
        if type == .typeDirectory {
            visitFolder(path, at: real, look)
        } else if type == .typeRegular {
            if known.insert(real).inserted { read(path, at: real, look) }
        } else if isNamed {
            unreadable.append(Passed(path: path, reason: "neither a file nor a folder"))
        }
    }

    private mutating func visitFolder(_ path: String, at real: String, _ look: (String, [UInt8]) -> Void) {
        guard known.insert(real).inserted else { return }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: real).sorted()
        } catch {
            return unreadable.append(Passed(path: path, reason: Self.reason(error)))
        }
        for name in names where !name.hasPrefix(".") && !Self.foreignFolders.contains(name) {
            let separator = path.hasSuffix("/") ? "" : "/"
            visit(path + separator + name, at: real + "/" + name, isNamed: false, look)
        }
    }

    private mutating func read(_ path: String, at real: String, _ look: (String, [UInt8]) -> Void) {
        guard !Self.documents.contains(URL(fileURLWithPath: path).pathExtension.lowercased()) else { return }
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: real))
            defer { try? handle.close() }
            let bytes = Array(try handle.read(upToCount: Self.maximumBytes + 1) ?? Data())
            if bytes.prefix(Self.binaryProbe).contains(0) {
                skipped.append(Passed(path: path, reason: Self.noText))
            } else if bytes.count > Self.maximumBytes {
                skipped.append(Passed(path: path, reason: "larger than \(Self.maximumBytes >> 20) MiB"))
            } else if GeneratedText.isGenerated(bytes) {
                skipped.append(Passed(path: path, reason: Self.generated))
            } else {
                count += 1
                look(path, bytes)
            }
        } catch {
            unreadable.append(Passed(path: path, reason: Self.reason(error)))
        }
    }

    /// The system's own words, which name no path; Foundation's differ between platforms.
    private static func reason(_ error: any Error) -> String {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        let posix = [underlying, error as NSError].compactMap { $0 }.first { $0.domain == NSPOSIXErrorDomain }
        if let posix { return String(cString: strerror(Int32(posix.code))) }
        return (error as? CocoaError)?.code == .fileReadNoSuchFile
            ? "no such file or folder" : error.localizedDescription
    }
}
