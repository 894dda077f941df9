/// What each module may import, as the table "Modules" of ARCHITECTURE.md has it; nothing points back up.
enum ImportRule {
    /// The standard library and the system's C library, which everything may import.
    static let always: Set = ["Darwin", "Dispatch", "Glibc", "Musl", "Swift", "Synchronization"]

    /// Beyond those.
    static let allowed: [String: Set<String>] = [
        "EventModel": [],
        "EventSchema": ["CRE2", "EventModel", "Foundation", "FoundationXML"],
        "EventCodegen": ["EventSchema", "Foundation", "FoundationEssentials"],
        "event-codegen": ["ArgumentParser", "EventCodegen", "EventSchema", "Foundation"],
        "JSONTape": ["CSimdJSON"],
        "Journal": ["CISAL"],
        "EventPipeline": [
            "CXXHash", "CZlib", "DequeModule", "EventModel", "EventSchema", "Foundation", "FoundationEssentials",
            "JSONTape", "Journal", "Logging", "Metrics", "ServiceLifecycle",
        ],
        "ConsoleTracker": ["EventModel", "EventPipeline", "JSONTape"],
        "PostgresTracker": [
            "CLibPQ", "Crypto", "EventModel", "EventPipeline", "EventSchema", "Foundation", "FoundationEssentials",
            "Journal", "Logging", "SluiceMigrations",
        ],
        "KafkaTracker": ["CLibRDKafka", "EventModel", "EventPipeline", "EventSchema", "Logging"],
        "HTTPIngest": [
            "EventModel", "EventPipeline", "Logging", "NIOCore", "NIOHTTP1", "NIOPosix", "ServiceLifecycle",
        ],
        "JustTrack": ["EventModel", "EventPipeline", "EventSchema", "Foundation", "JSONTape", "Journal", "Logging"],
        "PipelineTestKit": ["EventModel", "EventPipeline", "EventSchema", "Journal"],
        "SluiceMigrations": [],
        "sluice": [
            "ArgumentParser", "Configuration", "ConsoleTracker", "EventCodegen", "EventModel", "EventPipeline",
            "EventSchema", "Foundation", "HTTPIngest", "Journal", "KafkaTracker", "Logging", "PostgresTracker",
            "ServiceLifecycle", "SystemPackage", "UnixSignals",
        ],
    ]

    /// Foundation stands in for FoundationEssentials where the system has only the whole.
    ///
    /// Imports that only some folders of a module may have, because of what they bring with them.
    static let folders: [String: [String]] = [
        "Foundation": [
            "Sources/EventCodegen/Rendering/", "Sources/EventPipeline/Quarantine/",
            "Sources/EventPipeline/TypedEvents/EventCatalog+Generated.swift", "Sources/EventSchema/Plist/",
            "Sources/EventSchema/Reading/",
            "Sources/JustTrack/", "Sources/PostgresTracker/Migration/", "Sources/event-codegen/",
            "Sources/sluice/",
        ],
        "FoundationXML": ["Sources/EventSchema/Plist/"],
    ]

    static func findings(in file: TextFile) -> [Finding] {
        guard let module = file.module else { return [] }
        guard let allowed = allowed[module] else {
            return [Finding(path: file.path, line: 0, sentence: "say in ImportRule what \(module) may import")]
        }
        return imports(of: file).compactMap { line, name in
            guard allowed.union(always).contains(name) else {
                return Finding(path: file.path, line: line, sentence: "\(module) may not import \(name)")
            }
            if let folders = folders[name], !folders.contains(where: file.path.hasPrefix) {
                return Finding(path: file.path, line: line, sentence: "\(name) belongs in \(folders)")
            }
            return nil
        }
    }

    /// The modules that a file imports, each with its line.
    static func imports(of file: TextFile) -> [(line: Int, name: String)] {
        let pattern = /^\s*(?:@\w+\s+)*(?:(?:public|package|internal|private|fileprivate)\s+)?import\s+(?:\w+\s+)?(\w+)/
        return SwiftCode.lines(of: file.text).enumerated().compactMap { index, line in
            line.firstMatch(of: pattern).map { (index + 1, String($0.1)) }
        }
    }
}
