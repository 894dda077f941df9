// swift-tools-version: 6.2
import PackageDescription

// Run by `make bench`; a separate package, so that users of Sluice do not build it.
let package = Package(
    name: "sluice-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "sluice", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // Runs all measurements and prints the table.
        .executableTarget(
            name: "bench",
            dependencies: [
                .product(name: "ArgumentParser", package: "swift-argument-parser")
            ]
        ),
        // Parses, checks and encodes on one thread.
        .executableTarget(
            name: "bench-check",
            dependencies: [
                .product(name: "PlanReading", package: "sluice"),
                .product(name: "Sluice", package: "sluice"),
                .product(name: "SluiceHTTP", package: "sluice"),
            ]
        ),
        // Encodes rows for PostgreSQL on one thread.
        .executableTarget(
            name: "bench-copy",
            dependencies: [
                .product(name: "PlanReading", package: "sluice"),
                .product(name: "Sluice", package: "sluice"),
                .product(name: "SluicePostgres", package: "sluice"),
            ]
        ),
        // What the ceilings of trackers call in C: zlib, and what Swift does not import.
        .target(name: "CCeilings", linkerSettings: [.linkedLibrary("z")]),
        // Passes deliveries to a tracker without a pipeline, or their bytes to what the tracker builds on.
        .executableTarget(
            name: "bench-deliver",
            dependencies: [
                "CCeilings",
                .product(name: "PlanReading", package: "sluice"),
                .product(name: "Sluice", package: "sluice"),
                .product(name: "SluiceExec", package: "sluice"),
                .product(name: "SluiceFile", package: "sluice"),
                .product(name: "SluiceWebhook", package: "sluice"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]
        ),
        // Counts calls of malloc.
        .target(name: "CAllocations"),
        // Builds, checks and encodes typed events on one thread, and sends them through a pipeline.
        .executableTarget(
            name: "bench-track",
            dependencies: [
                "CAllocations",
                .product(name: "Sluice", package: "sluice"),
            ],
            plugins: [.plugin(name: "EventCodegenPlugin", package: "sluice")]
        ),
        // JustTrack's interface, with a tracker that completes at once.
        .executableTarget(
            name: "bench-justtrack",
            dependencies: [.product(name: "JustTrack", package: "sluice")]
        ),
        // The ceiling of HTTP: NIO without a pipeline.
        .executableTarget(
            name: "bench-bare",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        // Sluice's public port and its pipeline, with trackers that discard or stall.
        .executableTarget(
            name: "bench-serve",
            dependencies: [
                .product(name: "Operations", package: "sluice"),
                .product(name: "PlanReading", package: "sluice"),
                .product(name: "Sluice", package: "sluice"),
                .product(name: "SluiceHTTP", package: "sluice"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

for target in package.targets where !["CAllocations", "CCeilings"].contains(target.name) {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
    ]
}
