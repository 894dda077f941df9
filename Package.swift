// swift-tools-version: 6.2
import PackageDescription

// simdjson and RE2 are in the compiler's default search paths on Linux, so linking them by name is enough. Their pkg-config
// files add flags that SwiftPM prohibits (-D, -pthread) and warns about in each build. Homebrew installs them elsewhere,
// so pkg-config has to find them on macOS.
#if os(macOS)
let simdjson: [Target.Dependency] = ["CLibSimdJSON"]
let re2: [Target.Dependency] = ["CLibRE2"]
let searchedLibraries: [Target] = [
    .systemLibrary(
        name: "CLibSimdJSON",
        path: "Sources/CLibraries/CLibSimdJSON",
        pkgConfig: "simdjson",
        providers: [.brew(["simdjson"])]
    ),
    .systemLibrary(
        name: "CLibRE2",
        path: "Sources/CLibraries/CLibRE2",
        pkgConfig: "re2",
        providers: [.brew(["re2"])]
    ),
]
#else
let simdjson: [Target.Dependency] = []
let re2: [Target.Dependency] = []
let searchedLibraries: [Target] = []
#endif

let package = Package(
    name: "sluice",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Sluice", targets: ["Sluice"]),
        .library(name: "SluicePostgres", targets: ["SluicePostgres"]),
        .library(name: "SluiceKafka", targets: ["SluiceKafka"]),
        .library(name: "SluiceExec", targets: ["SluiceExec"]),
        .library(name: "SluiceFile", targets: ["SluiceFile"]),
        .library(name: "SluiceWebhook", targets: ["SluiceWebhook"]),
        .library(name: "SluiceSocket", targets: ["SluiceSocket"]),
        .library(name: "SluiceHTTP", targets: ["SluiceHTTP"]),
        .library(name: "Operations", targets: ["Operations"]),
        .library(name: "SluiceTesting", targets: ["SluiceTesting"]),
        .library(name: "JustTrack", targets: ["JustTrack"]),
        // Sends events to a server; for apps.
        .library(name: "SluiceClient", targets: ["SluiceClient"]),
        // Reads plan files while the program runs; a program whose plan is compiled in does without it.
        .library(name: "PlanReading", targets: ["PlanReading"]),
        .executable(name: "sluice", targets: ["SluiceCommand"]),
        .plugin(name: "EventCodegenPlugin", targets: ["EventCodegenPlugin"]),
        .plugin(name: "GenerateEventsPlugin", targets: ["GenerateEventsPlugin"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: searchedLibraries + [
        // C libraries, found through pkg-config. Documentation/Build/Library.md says which product needs which.
        .systemLibrary(
            name: "CLibPQ",
            path: "Sources/CLibraries/CLibPQ",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        .systemLibrary(
            name: "CLibRDKafka",
            path: "Sources/CLibraries/CLibRDKafka",
            pkgConfig: "rdkafka",
            providers: [.apt(["librdkafka-dev"]), .brew(["librdkafka"])]
        ),
        .systemLibrary(
            name: "CLibCrypto",
            path: "Sources/CLibraries/CLibCrypto",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]
        ),
        .systemLibrary(
            name: "CISAL",
            path: "Sources/CLibraries/CISAL",
            pkgConfig: "libisal",
            providers: [.apt(["libisal-dev"]), .brew(["isa-l"])]
        ),
        .systemLibrary(
            name: "CXXHash",
            path: "Sources/CLibraries/CXXHash",
            pkgConfig: "libxxhash",
            providers: [.apt(["libxxhash-dev"]), .brew(["xxhash"])]
        ),
        .systemLibrary(
            name: "CZlib",
            path: "Sources/CLibraries/CZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),
        // C interfaces to the two C++ libraries.
        .target(
            name: "CSimdJSON",
            dependencies: simdjson,
            path: "Sources/CLibraries/CSimdJSON",
            linkerSettings: [.linkedLibrary("simdjson")]
        ),
        .target(
            name: "CRE2",
            dependencies: re2,
            path: "Sources/CLibraries/CRE2",
            linkerSettings: [.linkedLibrary("re2")]
        ),

        // Starts programs.
        .target(name: "CSpawn", path: "Sources/CLibraries/CSpawn"),

        .target(name: "EventModel"),
        .target(name: "EventSchema", dependencies: ["EventModel"]),
        .target(name: "PatternMatching", dependencies: ["CRE2"]),
        .target(name: "Hashing", dependencies: [.target(name: "CLibCrypto", condition: .when(platforms: [.linux]))]),
        .target(name: "PlanReading", dependencies: ["EventModel", "EventSchema", "PatternMatching"]),
        .target(
            name: "PlanTools",
            dependencies: [
                "EventModel", "EventSchema", "Hashing", "PatternMatching", "PlanReading", "PortDefinitions",
            ],
            resources: [
                .embedInCode("Exports/DBT/Project/dbt_project.yml"),
                .embedInCode("Exports/DBT/Project/profiles.yml"),
                .embedInCode("Exports/DBT/Project/sluice_actives.sql"),
                .embedInCode("Exports/DBT/Project/sluice_events.sql"),
                .embedInCode("Exports/DBT/Project/sluice_funnel.sql"),
                .embedInCode("Exports/DBT/Project/sluice_models.yml"),
                .embedInCode("Exports/DBT/Project/sluice_retention.sql"),
                .embedInCode("Exports/DBT/Project/sluice_sessions.sql"),
                .embedInCode("Exports/DBT/Project/sluice_tests.sql"),
                .embedInCode("Exports/DBT/Project/sluice_users.sql"),
                .embedInCode("Exports/DBT/Project/sluice_window.sql"),
                .embedInCode("Exports/HTML/catalogue.css"), .embedInCode("Exports/HTML/catalogue.js"),
            ]
        ),
        .target(name: "EventCodegen", dependencies: ["EventSchema", "PlanReading"]),
        // The tool that the plugins run.
        .executableTarget(
            name: "event-codegen",
            dependencies: [
                "EventCodegen", "EventSchema", "PlanReading",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .plugin(name: "EventCodegenPlugin", capability: .buildTool(), dependencies: ["event-codegen"]),
        .plugin(
            name: "GenerateEventsPlugin",
            capability: .command(
                intent: .custom(verb: "generate-events", description: "Turn plan files into Swift, beside them."),
                permissions: [.writeToPackageDirectory(reason: "The generated Swift is written beside the plan files.")]
            ),
            dependencies: ["event-codegen"]
        ),
        // The project's own plan, as the tests use it.
        .target(
            name: "Events",
            dependencies: ["Sluice"],
            path: "events",
            plugins: ["EventCodegenPlugin"]
        ),
        .target(name: "JSONTape", dependencies: ["CSimdJSON", "EventModel"]),
        .target(
            name: "EventValidation",
            dependencies: [
                "CXXHash", "EventModel", "EventSchema", "Hashing", "JSONTape", "PatternMatching", "PortDefinitions",
            ]
        ),
        .target(name: "Gzip", dependencies: ["CZlib"]),
        .target(name: "EventJournal", dependencies: ["CISAL", "EventModel"]),
        // The metrics' names, labels and descriptions, as values.
        .target(name: "MetricDefinitions", dependencies: [.product(name: "Metrics", package: "swift-metrics")]),
        // The codes of requests that fail and of events that are rejected, as values.
        .target(name: "PortDefinitions"),
        // The settings' keys, kinds, defaults and help, as values.
        .target(name: "SettingDefinitions", dependencies: ["EventModel"]),
        .target(
            name: "TrackerKit",
            dependencies: [
                "EventModel", "EventSchema", "EventValidation", "SettingDefinitions",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "EventQuarantine",
            dependencies: [
                "EventJournal", "EventModel", "EventSchema", "EventValidation", "JSONTape", "MetricDefinitions",
                "PortDefinitions", "TrackerKit",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
            ]
        ),
        .target(
            name: "EventPipeline",
            dependencies: [
                "EventJournal", "EventModel", "EventQuarantine", "EventSchema", "EventValidation", "MetricDefinitions",
                "TrackerKit",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .target(
            name: "SluiceConsole",
            dependencies: ["EventModel", "EventValidation", "SettingDefinitions", "TrackerKit"]
        ),
        // What a service imports.
        .target(
            name: "Sluice",
            dependencies: [
                "EventJournal", "EventModel", "EventPipeline", "EventQuarantine", "EventSchema", "EventValidation",
                "SluiceConsole", "TrackerKit",
            ]
        ),
        // The SQL of the project's own migrations, as bytes within the program.
        .target(
            name: "SluiceMigrations",
            path: "migrations",
            resources: [
                .embedInCode("0001_schema.sql"), .embedInCode("0002_checkpoints.sql"),
                .embedInCode("0003_sessions.sql"), .embedInCode("0004_loader.sql"),
                .embedInCode("0005_event_time.sql"), .embedInCode("0006_recent_ids.sql"),
                .embedInCode("0007_forgotten.sql"),
            ]
        ),
        .target(
            name: "SluicePostgres",
            dependencies: [
                "CLibPQ", "EventModel", "EventSchema", "EventValidation", "Hashing", "JSONTape", "MetricDefinitions",
                "SettingDefinitions", "SluiceMigrations", "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
            ]
        ),
        .target(
            name: "SluiceKafka",
            dependencies: [
                "CLibRDKafka", "EventModel", "EventSchema", "EventValidation", "SettingDefinitions", "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "SluiceExec",
            dependencies: [
                "CSpawn", "EventModel", "EventSchema", "EventValidation", "JSONTape", "SettingDefinitions",
                "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        // Requests to servers: webhooks, and other Sluices.
        .target(
            name: "SluiceWebhook",
            dependencies: [
                "EventModel", "EventValidation", "Gzip", "Hashing", "JSONTape", "SettingDefinitions", "TrackerKit",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]
        ),
        .target(
            name: "SluiceFile",
            dependencies: [
                "EventModel", "EventValidation", "Gzip", "Hashing", "SettingDefinitions", "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "SluiceSocket",
            dependencies: [
                "EventModel", "EventValidation", "SettingDefinitions", "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ]
        ),
        .target(
            name: "Loader",
            dependencies: [
                "EventModel", "EventQuarantine", "EventSchema", "EventValidation", "MetricDefinitions", "SluiceKafka",
                "TrackerKit",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
            ]
        ),
        .target(
            name: "SluiceHTTP",
            dependencies: [
                "EventModel", "EventPipeline", "EventSchema", "EventValidation", "Gzip", "Hashing", "JSONTape",
                "MetricDefinitions", "PortDefinitions",
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        // The private port: metrics, health and control.
        .target(
            name: "Operations",
            dependencies: [
                "EventModel", "EventPipeline", "EventQuarantine", "EventSchema", "EventValidation", "Hashing",
                "MetricDefinitions",
                "SluiceHTTP",
                "TrackerKit",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            resources: [
                .embedInCode("Dashboard/Resources/dashboard.css"),
                .embedInCode("Dashboard/Resources/dashboard.html"),
                .embedInCode("Dashboard/Resources/dashboard.js"),
            ]
        ),
        .target(
            name: "JustTrack",
            dependencies: [
                "EventJournal", "EventModel", "EventPipeline", "EventQuarantine", "EventSchema", "EventValidation",
                "JSONTape", "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "SluiceTesting",
            dependencies: [
                "EventJournal", "EventModel", "EventPipeline", "EventQuarantine", "EventSchema", "EventValidation",
                "JSONTape", "TrackerKit",
            ]
        ),
        .target(name: "SluiceClient", dependencies: ["EventModel", "EventSchema", "PortDefinitions"]),
        // The settings of the command: their sources, and what they are read into.
        .target(
            name: "SluiceSettings",
            dependencies: [
                "EventJournal", "EventModel", "EventPipeline", "EventQuarantine", "EventSchema", "EventValidation",
                "Operations", "SettingDefinitions", "SluiceConsole", "SluiceExec", "SluiceFile", "SluiceHTTP",
                "SluiceKafka", "SluicePostgres", "SluiceSocket", "SluiceWebhook", "TrackerKit",
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Yams", package: "Yams"),
            ]
        ),
        // Recorded and quarantined events, and how they are sent again.
        .target(
            name: "SluiceReplay",
            dependencies: [
                "EventJournal", "EventModel", "EventPipeline", "EventQuarantine", "EventSchema", "EventValidation",
                "Gzip", "Operations", "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]
        ),
        .executableTarget(
            name: "SluiceCommand",
            dependencies: [
                "EventCodegen", "EventJournal", "EventModel", "EventPipeline", "EventQuarantine", "EventSchema",
                "EventValidation", "Loader", "Operations", "PlanReading", "PlanTools", "SettingDefinitions",
                "SluiceConsole", "SluiceExec", "SluiceHTTP", "SluiceKafka", "SluicePostgres", "SluiceReplay",
                "SluiceSettings", "SluiceTesting", "TrackerKit",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            // What `sluice init` writes.
            resources: [
                .embedInCode("Init/Resources/orders.plist"), .embedInCode("Init/Resources/segment.plist"),
                .embedInCode("Init/Resources/sluice.yaml"),
            ]
        ),
        // What the generator has to write, compiled.
        .target(
            name: "GoldenShapes",
            dependencies: ["Sluice"],
            path: "Tests/Golden/Shapes",
            exclude: ["shapes.plist"]
        ),
        .target(
            name: "GoldenClient",
            dependencies: ["SluiceClient"],
            path: "Tests/Golden/Client",
            exclude: ["shapes.plist"]
        ),
        .target(
            name: "GoldenNames",
            dependencies: ["Sluice"],
            path: "Tests/Golden/Names",
            exclude: ["names.plist"]
        ),
        // An app written for JustTrack, which must go on compiling.
        .target(
            name: "JustTrackApp",
            dependencies: ["JustTrack"],
            path: "Tests/JustTrackApp",
            exclude: ["Events.plist"],
            swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]
        ),
        // An app that queues events and sends them, which a test kills.
        .executableTarget(
            name: "ClientApp",
            dependencies: ["SluiceClient"],
            path: "Tests/ClientApp",
            swiftSettings: [.treatAllWarnings(as: .error)],
            plugins: ["EventCodegenPlugin"]
        ),
        // The tutorial's program, as its reader has it at the end; and the other code of the documentation.
        .executableTarget(
            name: "TutorialShop",
            dependencies: ["Sluice", "SluicePostgres"],
            path: "Tests/Tutorial/Sources/Shop",
            swiftSettings: [.treatAllWarnings(as: .error)],
            plugins: ["EventCodegenPlugin"]
        ),
        // README's plan, and the Swift that it shows with it.
        .target(
            name: "ReadmeShop",
            dependencies: ["Sluice", "SluicePostgres"],
            path: "Tests/Readme",
            swiftSettings: [.treatAllWarnings(as: .error)],
            plugins: ["EventCodegenPlugin"]
        ),
        .target(
            name: "DocumentationSnippets",
            dependencies: [
                "EventCodegen", "Events", "JustTrack", "Operations", "PlanReading", "Sluice", "SluiceExec",
                "SluiceFile", "SluiceHTTP", "SluiceKafka", "SluicePostgres", "SluiceSocket", "SluiceTesting",
                "SluiceWebhook",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Tests/Snippets",
            swiftSettings: [.treatAllWarnings(as: .error)]
        ),
        // The trait with which a test names the promises that it shows.
        .target(name: "TestPromises", path: "Tests/UnitTests/Support/Promises"),
        // Generated plans and events for tests, and a second implementation of the check to compare the first with.
        .target(
            name: "TestCases",
            dependencies: ["EventModel", "EventSchema", "EventValidation", "Gzip", "PlanReading", "TrackerKit"],
            path: "Tests/UnitTests/Support/Cases"
        ),
        // Pipelines, journals and quarantines over file systems that fail or hang when a test says so.
        .target(
            name: "PipelineTestSupport",
            dependencies: [
                "EventJournal", "EventModel", "EventPipeline", "EventQuarantine", "EventValidation", "SluiceTesting",
                "TestCases", "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/UnitTests/Support/Pipelines"
        ),
        .unitTests("EventModel", dependencies: ["EventModel", "TestCases"]),
        .unitTests("JSONTape", dependencies: ["JSONTape", "EventModel", "TestCases"]),
        .unitTests("Gzip", dependencies: ["Gzip", "TestCases"]),
        .unitTests(
            "PlanReading",
            dependencies: ["PlanReading", "EventSchema", "PatternMatching", "PlanTools", "TestCases"]
        ),
        .unitTests(
            "PlanTools",
            dependencies: [
                "PlanTools", "EventModel", "EventSchema", "EventValidation", "PatternMatching", "PlanReading",
                "TestCases",
            ]
        ),
        .unitTests(
            "EventCodegen",
            dependencies: [
                "EventCodegen", "EventSchema", "EventValidation", "GoldenShapes", "PlanReading",
                "TestCases",
            ]
        ),
        .unitTests(
            "EventValidation",
            dependencies: [
                "EventValidation", "EventJournal", "EventModel", "EventQuarantine", "EventSchema", "GoldenShapes",
                "PipelineTestSupport", "TestCases",
            ]
        ),
        .unitTests(
            "TypedEvents",
            dependencies: [
                "EventModel", "EventValidation", "GoldenClient", "GoldenNames", "GoldenShapes", "SluiceClient",
                "TestCases",
            ]
        ),
        .unitTests("EventJournal", dependencies: ["EventJournal", "EventModel", "PipelineTestSupport", "TestCases"]),
        .unitTests(
            "EventQuarantine",
            dependencies: [
                "EventQuarantine", "EventJournal", "EventModel", "EventPipeline", "EventSchema", "EventValidation",
                "PipelineTestSupport", "SluiceTesting", "TestCases", "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .unitTests(
            "EventPipeline",
            dependencies: [
                "EventPipeline", "EventJournal", "EventModel", "EventQuarantine", "EventSchema", "EventValidation",
                "GoldenShapes",
                "PipelineTestSupport", "SluiceTesting", "TestCases", "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .unitTests(
            "SluiceHTTP",
            dependencies: [
                "SluiceHTTP", "EventJournal", "EventModel", "EventPipeline", "EventQuarantine", "EventSchema",
                "EventValidation", "PipelineTestSupport", "PlanTools", "PortDefinitions", "SluiceTesting", "TestCases",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]
        ),
        .unitTests(
            "Operations",
            dependencies: [
                "Operations", "EventModel", "EventPipeline", "EventQuarantine", "EventValidation", "MetricDefinitions",
                "PipelineTestSupport", "SluiceTesting", "TestCases",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]
        ),
        .unitTests(
            "SluiceClient",
            dependencies: ["SluiceClient", "EventModel", "GoldenClient", "SluiceTesting", "TestCases"]
        ),
        .unitTests(
            "Loader",
            dependencies: [
                "Loader", "EventModel", "EventQuarantine", "EventValidation", "PipelineTestSupport", "SluiceKafka",
                "SluiceTesting", "TestCases", "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .unitTests(
            "SluiceSettings",
            dependencies: [
                "SluiceSettings", "EventJournal", "EventPipeline", "Operations", "PipelineTestSupport", "PlanReading",
                "SettingDefinitions", "SluiceHTTP", "SluiceKafka", "SluicePostgres", "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .unitTests(
            "SluiceReplay",
            dependencies: [
                "SluiceReplay", "EventJournal", "EventModel", "EventPipeline", "EventQuarantine", "EventSchema",
                "EventValidation", "Gzip", "Operations", "PipelineTestSupport", "SluiceTesting", "TestCases",
                "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .unitTests(
            "SluicePostgres",
            dependencies: ["SluicePostgres", "EventModel", "EventSchema", "EventValidation", "TestCases"]
        ),
        .unitTests(
            "SluiceExec",
            dependencies: [
                "SluiceExec", "EventModel", "EventSchema", "EventValidation", "SettingDefinitions", "SluiceTesting",
                "TestCases", "TrackerKit",
            ]
        ),
        .unitTests(
            "SluiceFile",
            dependencies: [
                "SluiceFile", "EventModel", "EventSchema", "EventValidation", "Gzip", "PipelineTestSupport",
                "SluiceTesting", "TestCases", "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .unitTests("SluiceWebhook", dependencies: ["SluiceWebhook", "EventModel", "TrackerKit"]),
        .unitTests(
            "SluiceSocket",
            dependencies: [
                "SluiceSocket", "EventModel", "EventValidation", "SluiceTesting", "TestCases", "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]
        ),
        .unitTests("JustTrack", dependencies: ["JustTrack", "JustTrackApp", "PipelineTestSupport", "SluiceTesting"]),
        .unitTests(
            "SluiceTesting",
            dependencies: [
                "SluiceTesting", "EventJournal", "EventModel", "EventPipeline", "EventValidation", "GoldenShapes",
                "TrackerKit",
            ]
        ),
        // PostgreSQL, PgBouncer and Kafka servers that tests start.
        .target(
            name: "TestSupport",
            dependencies: ["CLibRDKafka", "EventPipeline", "ServerTestSupport", "SluiceTesting"],
            path: "Tests/Support",
            exclude: ["Clients"]
        ),
        .testTarget(
            name: "TrackerTests",
            dependencies: [
                "CLibRDKafka", "EventJournal", "EventModel", "EventPipeline", "EventQuarantine", "EventSchema",
                "EventValidation", "Gzip", "PipelineTestSupport", "PlanReading", "PlanTools", "ServerTestSupport",
                "SluiceConsole", "SluiceExec", "SluiceFile", "SluiceHTTP", "SluiceKafka", "SluicePostgres",
                "SluiceSocket", "SluiceTesting", "SluiceWebhook", "TestCases", "TestPromises", "TestSupport",
                "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]
        ),
        // A server with its pipeline in the process of the tests, and what tests of servers and programs share.
        .target(
            name: "ServerTestSupport",
            dependencies: [
                "EventModel", "EventPipeline", "EventQuarantine", "EventSchema", "EventValidation", "SluiceHTTP",
                "SluiceTesting", "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Tests/ServerTestSupport"
        ),
        // The HTTP server, in the process of the tests.
        .testTarget(
            name: "HTTPTests",
            dependencies: [
                "EventJournal", "EventModel", "EventPipeline", "EventQuarantine", "EventSchema", "EventValidation",
                "PipelineTestSupport", "ServerTestSupport", "SluiceHTTP", "SluiceTesting", "TestCases", "TestPromises",
                "TrackerKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "CLibRDKafka", "EventJournal", "EventModel", "EventPipeline", "EventQuarantine", "EventSchema",
                "EventValidation", "Gzip", "PlanReading", "PlanTools", "PipelineTestSupport",
                "ServerTestSupport", "SluiceHTTP", "SluiceTesting", "TestCases", "TestPromises", "TestSupport",
                "TrackerKit",
                // The tests run these programs, which are built into the same folder.
                "ClientApp", "SluiceCommand", "TutorialShop", "event-codegen",
                // The documentation shows these, so they must compile.
                "DocumentationSnippets", "ReadmeShop",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Yams", package: "Yams"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

// `scripts/fuzz.sh` builds these with libFuzzer's entry point, which no other build has.
if Context.environment["SLUICE_FUZZ"] != nil {
    package.targets += [
        .fuzzer("copy-rows", dependencies: ["EventModel", "EventValidation", "PlanReading", "SluicePostgres"]),
        .fuzzer("event-check", dependencies: ["EventModel", "EventValidation", "PlanReading"]),
        .fuzzer("plan-reader", dependencies: ["PlanReading"]),
    ]
}

// `scripts/tsan.sh` compiles only the tests that it runs.
if let names = Context.environment["SLUICE_TEST_TARGETS"]?.split(separator: " ").map(String.init) {
    let known = package.targets.filter { $0.type == .test }.map(\.name)
    guard names.allSatisfy(known.contains) else { fatalError("SLUICE_TEST_TARGETS: the test targets are \(known)") }
    package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}

for target in package.targets where target.type != .system && target.type != .plugin {
    let exceptions = [
        "CSimdJSON", "CRE2", "CSpawn", "ClientApp", "DocumentationSnippets", "JustTrackApp", "ReadmeShop",
        "TutorialShop",
    ]
    guard !exceptions.contains(target.name) else { continue }
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            .treatAllWarnings(as: .error),
        ]
}

extension Target {
    /// A target of libFuzzer, in `Fuzz/Sources`.
    static func fuzzer(_ name: String, dependencies: [Dependency]) -> Target {
        .executableTarget(
            name: name,
            dependencies: dependencies,
            path: "Fuzz/Sources/" + name,
            swiftSettings: [.unsafeFlags(["-parse-as-library"])]
        )
    }

    /// The tests in the folder `Tests/UnitTests/FOLDER`, which need no server; each can name promises.
    static func unitTests(_ folder: String, dependencies: [Dependency]) -> Target {
        .testTarget(
            name: folder + "Tests",
            dependencies: dependencies + ["TestPromises"],
            path: "Tests/UnitTests/" + folder
        )
    }
}
