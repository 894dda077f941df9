/// The imports of each module, as in the table "Modules" of ARCHITECTURE.md; dependencies point downwards only.
enum ImportRule {
    /// The standard library and the system's C library, which everything may import.
    static let always: Set = ["Darwin", "Dispatch", "Glibc", "Musl", "Swift", "Synchronization"]

    /// The further imports of each module.
    static let allowed: [String: Set<String>] = [
        "EventModel": [],
        "EventSchema": ["EventModel"],
        "PatternMatching": ["CRE2"],
        "Hashing": ["CLibCrypto", "CryptoKit"],
        "PlanReading": ["EventModel", "EventSchema", "Foundation", "FoundationXML", "PatternMatching"],
        "PlanTools": [
            "EventModel", "EventSchema", "Foundation", "FoundationEssentials", "Hashing", "PatternMatching",
            "PlanReading",
        ],
        "EventCodegen": ["EventSchema", "Foundation", "FoundationEssentials", "PlanReading"],
        "event-codegen": ["ArgumentParser", "EventCodegen", "EventSchema", "Foundation", "PlanReading"],
        "JSONTape": ["CSimdJSON", "EventModel"],
        "EventValidation": [
            "CXXHash", "EventModel", "EventSchema", "Foundation", "FoundationEssentials", "Hashing", "JSONTape",
            "PatternMatching",
        ],
        "Gzip": ["CZlib"],
        "EventJournal": ["CISAL", "EventModel"],
        "TrackerKit": ["EventModel", "EventSchema", "EventValidation"],
        "MetricDefinitions": ["Metrics"],
        "EventQuarantine": [
            "DequeModule", "EventJournal", "EventModel", "EventSchema", "EventValidation", "Foundation",
            "FoundationEssentials", "JSONTape", "Logging", "MetricDefinitions", "Metrics", "TrackerKit",
        ],
        "EventPipeline": [
            "DequeModule", "EventJournal", "EventModel", "EventQuarantine", "EventSchema", "EventValidation", "Logging",
            "MetricDefinitions", "Metrics", "ServiceLifecycle", "TrackerKit",
        ],
        "SluiceConsole": ["EventModel", "EventValidation", "TrackerKit"],
        "Sluice": [
            "EventJournal", "EventModel", "EventPipeline", "EventQuarantine", "EventSchema", "EventValidation",
            "SluiceConsole", "TrackerKit",
        ],
        "SluiceMigrations": [],
        "SluicePostgres": [
            "CLibPQ", "EventModel", "EventSchema", "EventValidation", "Foundation", "FoundationEssentials", "Hashing",
            "Logging", "SluiceMigrations", "TrackerKit",
        ],
        "SluiceKafka": ["CLibRDKafka", "EventModel", "EventSchema", "EventValidation", "Logging", "TrackerKit"],
        "Loader": [
            "DequeModule", "EventModel", "EventQuarantine", "EventSchema", "EventValidation", "Logging",
            "MetricDefinitions", "Metrics", "SluiceKafka", "TrackerKit",
        ],
        "SluiceHTTP": [
            "EventModel", "EventPipeline", "EventSchema", "EventValidation", "Foundation", "FoundationEssentials",
            "Gzip", "Hashing", "HeapModule",
            "JSONTape", "Logging", "MetricDefinitions", "Metrics", "NIOCore", "NIOHPACK", "NIOHTTP1", "NIOHTTP2",
            "NIOPosix", "NIOSSL", "NIOTLS",
            "ServiceLifecycle",
        ],
        "Operations": [
            "CoreMetrics", "EventModel", "EventPipeline", "EventQuarantine", "EventSchema", "Foundation", "HTTPTypes",
            "Hashing", "Hummingbird", "HummingbirdCore", "Logging", "MetricDefinitions", "NIOCore", "NIOHTTP1",
            "NIOPosix", "ServiceLifecycle",
            "SluiceHTTP", "TrackerKit",
        ],
        "SluiceClient": ["EventModel", "EventSchema", "Foundation", "FoundationNetworking"],
        "JustTrack": [
            "EventJournal", "EventModel", "EventPipeline", "EventQuarantine", "EventSchema", "EventValidation",
            "Foundation", "JSONTape", "Logging", "TrackerKit",
        ],
        "SluiceTesting": [
            "EventJournal", "EventModel", "EventPipeline", "EventQuarantine", "EventSchema", "EventValidation",
            "JSONTape", "TrackerKit",
        ],
        "SluiceCommand": [
            "ArgumentParser", "AsyncHTTPClient", "Configuration", "EventCodegen", "EventJournal", "EventModel",
            "EventPipeline",
            "EventQuarantine", "EventSchema", "EventValidation", "Foundation", "Gzip", "Logging", "Metrics",
            "NIOCore",
            "Loader", "NIOFoundationCompat", "NIOHTTP1", "Operations", "PlanReading", "PlanTools", "ServiceLifecycle",
            "SluiceConsole", "SluiceHTTP", "SluiceKafka",
            "SluicePostgres",
            "SystemPackage", "TrackerKit", "UnixSignals", "Yams",
        ],
    ]

    /// Imports that are allowed only in some folders of a module, because of the code that they link.
    ///
    /// Foundation replaces FoundationEssentials on systems that have only the whole.
    static let folders: [String: [String]] = [
        "Foundation": [
            "Sources/EventCodegen/Rendering/", "Sources/EventQuarantine/",
            "Sources/EventValidation/Plan/EventCatalog+Digest.swift",
            "Sources/EventValidation/TypedEvents/EventCatalog+Generated.swift", "Sources/JustTrack/",
            "Sources/Operations/",
            "Sources/PlanReading/Plist/", "Sources/PlanReading/Reading/", "Sources/PlanTools/Exports/HTML/",
            "Sources/SluiceClient/", "Sources/SluiceCommand/", "Sources/SluiceHTTP/Keys/", "Sources/SluiceHTTP/TLS/",
            "Sources/SluicePostgres/Migration/", "Sources/event-codegen/",
        ],
        "FoundationXML": ["Sources/PlanReading/Plist/"],
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
            !line.containsBytes("import") ? nil : line.firstMatch(of: pattern).map { (index + 1, String($0.1)) }
        }
    }
}
