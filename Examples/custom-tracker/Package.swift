// swift-tools-version: 6.2
import PackageDescription

// A custom tracker, in a package of its own that depends on Sluice.
let package = Package(
    name: "custom-tracker",
    platforms: [.macOS(.v15)],
    dependencies: [
        // Outside of this repository: .package(url: "…/sluice", from: "0.1.0")
        .package(name: "sluice", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .target(
            name: "FileTracker",
            dependencies: [
                .product(name: "Sluice", package: "sluice")
            ]
        ),
        .executableTarget(
            name: "custom-tracker",
            dependencies: [
                "FileTracker",
                .product(name: "PlanReading", package: "sluice"),
                .product(name: "Sluice", package: "sluice"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(
            name: "FileTrackerTests",
            dependencies: [
                "FileTracker",
                .product(name: "Sluice", package: "sluice"),
                .product(name: "SluiceTesting", package: "sluice"),
            ],
            path: "Tests/FileTrackerTests"
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
    ]
}
