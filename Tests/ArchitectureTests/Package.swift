// swift-tools-version: 6.2
import PackageDescription

// The style guide as tests; `make lint` runs them. A package of its own, so that they are built and run within seconds
// of a change, without Sluice.
let package = Package(
    name: "architecture-tests",
    platforms: [.macOS(.v15)],
    targets: [
        .testTarget(
            name: "ArchitectureTests",
            path: ".",
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
                .treatAllWarnings(as: .error),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
