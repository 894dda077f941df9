/// A module imports only what its target in `Package.swift` depends on, and Foundation only where it is needed.
///
/// The compiler also accepts an import of a dependency's dependency.
enum ImportRule {
    /// The standard library and the system's C library, which everything may import.
    static let always: Set = ["Darwin", "Dispatch", "Glibc", "Musl", "Swift", "Synchronization"]

    /// The system's libraries that are allowed only in some folders, because of the code that they link.
    ///
    /// Foundation replaces FoundationEssentials on systems that have only the whole.
    static let folders: [String: [String]] = [
        "CryptoKit": ["Sources/Hashing/"],
        "Foundation": foundation,
        "FoundationEssentials": foundation,
        "FoundationNetworking": ["Sources/SluiceClient/Sending/"],
        "FoundationXML": ["Sources/PlanReading/Plist/"],
    ]
    private static let foundation = [
        "Sources/EventCodegen/Rendering/", "Sources/EventQuarantine/",
        "Sources/EventValidation/Plan/EventCatalog+Digest.swift",
        "Sources/EventValidation/TypedEvents/EventCatalog+Generated.swift", "Sources/JustTrack/", "Sources/Operations/",
        "Sources/PlanReading/Plist/", "Sources/PlanReading/Reading/", "Sources/PlanTools/Exports/HTML/",
        "Sources/SluiceClient/", "Sources/SluiceCommand/", "Sources/SluiceHTTP/Keys/", "Sources/SluiceHTTP/TLS/",
        "Sources/SluicePostgres/Maintenance/Archive/", "Sources/SluicePostgres/Migration/", "Sources/SluiceReplay/",
        "Sources/SluiceSettings/File/", "Sources/SluiceWebhook/Request/", "Sources/event-codegen/",
    ]

    static func findings(in file: TextFile, manifest: Manifest) -> [Finding] {
        guard let module = file.module else { return [] }
        guard let dependencies = manifest.dependencies[module] else {
            return [Finding(path: file.path, line: 0, sentence: "\(module) is no target of Package.swift")]
        }
        return imports(of: file).compactMap { line, name in
            if let folders = folders[name] {
                guard !folders.contains(where: file.path.hasPrefix) else { return nil }
                return Finding(path: file.path, line: line, sentence: "\(name) belongs in \(folders)")
            }
            guard dependencies.union(always).contains(name) else {
                return Finding(path: file.path, line: line, sentence: "\(module) does not depend on \(name)")
            }
            return nil
        }
    }

    /// The modules that a file imports, each with its line.
    static func imports(of file: TextFile) -> [(line: Int, name: String)] {
        let pattern = /^\s*(?:@\w+\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?import\s+(?:\w+\s+)?(\w+)/
        return SwiftCode.lines(of: file.text).enumerated().compactMap { index, line in
            !line.containsBytes("import") ? nil : line.firstMatch(of: pattern).map { (index + 1, String($0.1)) }
        }
    }
}

/// The targets of `Package.swift`.
struct Manifest {
    /// The modules that each target depends on, of the package and of others.
    let dependencies: [String: Set<String>]

    /// Reads the targets from the manifest's text, in which their dependencies are literals.
    init(_ text: String) {
        // A condition is a list within the list.
        let target =
            #/
            ^\ +\.(?:target|executableTarget)\(\s*name:\ "([\w-]+)",?\s*
            (?:dependencies:\ (\[(?:[^\[\]]|\[[^\[\]]*\])*\]))?
            /#.anchorsMatchLineEndings()
        let targets = text.matches(of: target).map { match in
            // The package of a product is no module.
            let list = String(match.2 ?? "").replacing(/package: "[^"]*"/, with: "")
            return (String(match.1), Set(list.matches(of: /"([\w-]+)"/).map { String($0.1) }))
        }
        dependencies = Dictionary(uniqueKeysWithValues: targets)
    }
}
