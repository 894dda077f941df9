// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "sluice",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "EventModel", targets: ["EventModel"]),
        .library(name: "EventSchema", targets: ["EventSchema"]),
        .library(name: "Journal", targets: ["Journal"]),
        .library(name: "EventPipeline", targets: ["EventPipeline"]),
        .library(name: "ConsoleTracker", targets: ["ConsoleTracker"]),
        .library(name: "PostgresTracker", targets: ["PostgresTracker"]),
        .library(name: "KafkaTracker", targets: ["KafkaTracker"]),
        .library(name: "HTTPIngest", targets: ["HTTPIngest"]),
        .library(name: "JustTrack", targets: ["JustTrack"]),
        .library(name: "PipelineTestKit", targets: ["PipelineTestKit"]),
        .executable(name: "sluice", targets: ["sluice"]),
        .plugin(name: "EventCodegenPlugin", targets: ["EventCodegenPlugin"]),
        .plugin(name: "GenerateEventsPlugin", targets: ["GenerateEventsPlugin"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // C libraries, found through pkg-config.
        .systemLibrary(
            name: "CLibPQ",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        .systemLibrary(
            name: "CLibRDKafka",
            pkgConfig: "rdkafka",
            providers: [.apt(["librdkafka-dev"]), .brew(["librdkafka"])]
        ),
        .systemLibrary(
            name: "CLibSimdJSON",
            pkgConfig: "simdjson",
            providers: [.apt(["libsimdjson-dev"]), .brew(["simdjson"])]
        ),
        .systemLibrary(
            name: "CLibRE2",
            pkgConfig: "re2",
            providers: [.apt(["libre2-dev"]), .brew(["re2"])]
        ),
        .systemLibrary(
            name: "CISAL",
            pkgConfig: "libisal",
            providers: [.apt(["libisal-dev"]), .brew(["isa-l"])]
        ),
        .systemLibrary(
            name: "CXXHash",
            pkgConfig: "libxxhash",
            providers: [.apt(["libxxhash-dev"]), .brew(["xxhash"])]
        ),
        .systemLibrary(
            name: "CZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),
        // C faces of the two C++ libraries.
        .target(name: "CSimdJSON", dependencies: ["CLibSimdJSON"]),
        .target(name: "CRE2", dependencies: ["CLibRE2"]),

        .target(name: "EventModel"),
        .target(name: "EventSchema", dependencies: ["CRE2", "EventModel"]),
        .target(name: "EventCodegen", dependencies: ["EventSchema"]),
        // The tool that the plugins run.
        .executableTarget(
            name: "event-codegen",
            dependencies: [
                "EventCodegen", "EventSchema",
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
            dependencies: ["EventModel", "EventPipeline"],
            path: "events",
            plugins: ["EventCodegenPlugin"]
        ),
        .target(name: "JSONTape", dependencies: ["CSimdJSON"]),
        .target(name: "Journal", dependencies: ["CISAL"]),
        .target(
            name: "EventPipeline",
            dependencies: [
                "CXXHash", "CZlib", "EventModel", "EventSchema", "JSONTape", "Journal",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .target(name: "ConsoleTracker", dependencies: ["EventModel", "EventPipeline", "JSONTape"]),
        // The SQL of the project's own migrations, as bytes within the program.
        .target(
            name: "SluiceMigrations",
            path: "migrations",
            resources: [
                .embedInCode("0001_schema.sql"), .embedInCode("0002_checkpoints.sql"),
                .embedInCode("0003_sessions.sql"),
            ]
        ),
        .target(
            name: "PostgresTracker",
            dependencies: [
                "CLibPQ", "EventModel", "EventPipeline", "EventSchema", "Journal", "SluiceMigrations",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "KafkaTracker",
            dependencies: [
                "CLibRDKafka", "EventModel", "EventPipeline", "EventSchema",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "HTTPIngest",
            dependencies: [
                "EventModel", "EventPipeline",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .target(
            name: "JustTrack",
            dependencies: [
                "EventModel", "EventPipeline", "EventSchema", "JSONTape", "Journal",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "PipelineTestKit",
            dependencies: ["EventModel", "EventPipeline", "EventSchema", "Journal"]
        ),
        .executableTarget(
            name: "sluice",
            dependencies: [
                "ConsoleTracker", "EventCodegen", "EventModel", "EventPipeline", "EventSchema", "HTTPIngest", "Journal",
                "KafkaTracker", "PostgresTracker",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]
        ),
        // What the generator has to write, compiled.
        .target(
            name: "GoldenShapes",
            dependencies: ["EventModel", "EventPipeline"],
            path: "Tests/Golden/Shapes",
            exclude: ["shapes.plist"]
        ),
        .target(
            name: "GoldenNames",
            dependencies: ["EventModel", "EventPipeline"],
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
        // The tutorial's program, as its reader has it at the end; and the other code of the documentation.
        .executableTarget(
            name: "TutorialShop",
            dependencies: ["ConsoleTracker", "EventModel", "EventPipeline", "PostgresTracker"],
            path: "Tests/Tutorial/Sources/Shop",
            swiftSettings: [.treatAllWarnings(as: .error)],
            plugins: ["EventCodegenPlugin"]
        ),
        // README's plan, and the Swift that it shows with it.
        .target(
            name: "ReadmeShop",
            dependencies: ["ConsoleTracker", "EventModel", "EventPipeline", "PostgresTracker"],
            path: "Tests/Readme",
            swiftSettings: [.treatAllWarnings(as: .error)],
            plugins: ["EventCodegenPlugin"]
        ),
        .target(
            name: "DocumentationSnippets",
            dependencies: [
                "ConsoleTracker", "EventCodegen", "EventModel", "EventPipeline", "EventSchema", "Events", "HTTPIngest",
                "Journal", "JustTrack", "KafkaTracker", "PipelineTestKit", "PostgresTracker",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Tests/Snippets",
            swiftSettings: [.treatAllWarnings(as: .error)]
        ),
        .testTarget(
            name: "UnitTests",
            dependencies: [
                "EventCodegen", "EventModel", "EventPipeline", "EventSchema", "Events", "GoldenNames", "GoldenShapes",
                "HTTPIngest", "JSONTape", "Journal", "JustTrack", "JustTrackApp", "PipelineTestKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        // Servers that tests start for themselves.
        .target(
            name: "TestSupport",
            dependencies: ["CLibRDKafka", "EventPipeline", "PipelineTestKit"],
            path: "Tests/Support"
        ),
        .testTarget(
            name: "TrackerTests",
            dependencies: [
                "CLibRDKafka", "ConsoleTracker", "EventModel", "EventPipeline", "EventSchema", "Journal",
                "KafkaTracker",
                "PipelineTestKit", "PostgresTracker", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "CLibRDKafka", "EventModel", "EventPipeline", "EventSchema", "HTTPIngest", "Journal", "PipelineTestKit",
                "TestSupport",
                // Not imported, but run: the tests start the programs they find beside themselves.
                "TutorialShop", "event-codegen", "sluice",
                // Nor are these, which are compiled because the documentation shows them.
                "DocumentationSnippets", "ReadmeShop",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .testTarget(
            name: "ArchitectureTests",
            dependencies: [
                "sluice",
                .product(name: "Yams", package: "Yams"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

for target in package.targets where target.type != .system && target.type != .plugin {
    let exceptions = ["CSimdJSON", "CRE2", "DocumentationSnippets", "JustTrackApp", "ReadmeShop", "TutorialShop"]
    guard !exceptions.contains(target.name) else { continue }
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
    ]
}
