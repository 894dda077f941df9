import EventModel
import EventSchema
internal import Foundation

/// Finds the files of a plan, and reads their bytes.
enum PlanFileSearch {
    /// The files at the paths, each once.
    static func find(_ paths: [String]) -> (files: [String], diagnostics: [Diagnostic]) {
        var files: [String] = []
        var emptyFolders: [String] = []
        var diagnostics: [Diagnostic] = []
        // A file system may tell names apart that are equal as strings.
        var known: Set<ExactText> = []
        for path in paths {
            let found: [String]
            switch listing(of: path) {
            case .success(let names): found = names
            case .failure(let failure):
                diagnostics.append(failure.diagnostic)
                continue
            }
            if found.isEmpty { emptyFolders.append(path) }
            files += found.filter { name in
                known.insert(ExactText(URL(fileURLWithPath: name).resolvingSymlinksInPath().path)).inserted
            }
        }
        if paths.isEmpty { diagnostics.append(Diagnostic(.noPlanFiles, at: start(of: "."), "no path was given")) }
        diagnostics += emptyFolders.map { folder in
            // An empty folder among others may be intended; a plan without any file cannot be.
            let code: DiagnosticCode = files.isEmpty ? .noPlanFiles : .emptyFolder
            return Diagnostic(code, at: start(of: folder), "there is no *.plist file in this folder")
        }
        return (files, diagnostics)
    }

    /// The bytes of a file, or enough of them to see that it is too large.
    static func contents(of path: String) -> Result<[UInt8], PlanFileFailure> {
        guard isReadable(path) else { return .failure(PlanFileFailure(path, "this is not a regular file", nil)) }
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            return .success(Array(try handle.read(upToCount: PlistReader.maximumBytes + 1) ?? Data()))
        } catch {
            return .failure(PlanFileFailure(path, "cannot be read", error))
        }
    }

    /// Whether the path is a file, or what a shell passes as one: `/dev/stdin`, and for `<(…)` `/dev/fd/63` or
    /// `/proc/self/fd/63`.
    ///
    /// Other pipes are refused, because opening one blocks until somebody writes to it. A missing file and a folder pass,
    /// because opening them fails with a reason.
    private static func isReadable(_ path: String) -> Bool {
        var status = stat()
        guard !path.hasPrefix("/dev/"), !path.hasPrefix("/proc/"), stat(path, &status) == 0 else { return true }
        return [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    /// The plan files of a folder, sorted by name, or the path itself if it is not a folder.
    private static func listing(of path: String) -> Result<[String], PlanFileFailure> {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            return .failure(PlanFileFailure(path, "there is no such file or folder", nil))
        }
        guard isFolder.boolValue else { return .success([path]) }
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
            let prefix = path.hasSuffix("/") ? path : path + "/"
            let files = names.filter { $0.lowercased().hasSuffix(".plist") && !$0.hasPrefix(".") }
            return .success(files.map(ExactText.init).sorted().map { prefix + $0.text })
        } catch {
            return .failure(PlanFileFailure(path, "the folder cannot be listed", error))
        }
    }

    fileprivate static func start(of path: String) -> PlanLocation {
        PlanLocation(file: path, line: 1, column: 1)
    }
}

/// Why a file or folder could not be read.
struct PlanFileFailure: Error {
    let diagnostic: Diagnostic

    init(_ path: String, _ sentence: String, _ underlying: (any Error)?) {
        let reason = underlying.map { ": \(SystemReason.of($0))" } ?? ""
        diagnostic = Diagnostic(.unreadableFile, at: PlanFileSearch.start(of: path), sentence + reason)
    }
}

/// The reason for which a system call on a file failed.
package enum SystemReason {
    /// The system's message, which contains no path; Foundation's messages repeat it, and differ between platforms.
    package static func of(_ error: any Error) -> String {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
        let posix = [underlying, error].compactMap { $0 as NSError? }.first { $0.domain == NSPOSIXErrorDomain }
        return posix.map { String(cString: strerror(Int32($0.code))) } ?? error.localizedDescription
    }
}
