// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "shop",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "…/sluice", branch: "main")
    ],
    targets: [
        .executableTarget(
            name: "Shop",
            dependencies: [
                .product(name: "ConsoleTracker", package: "sluice"),
                .product(name: "EventModel", package: "sluice"),
                .product(name: "EventPipeline", package: "sluice"),
                .product(name: "PostgresTracker", package: "sluice"),
            ],
            plugins: [.plugin(name: "EventCodegenPlugin", package: "sluice")]
        )
    ]
)
