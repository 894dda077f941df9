// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "shop",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "…/sluice", from: "0.1.0")
    ],
    targets: [
        .executableTarget(
            name: "Shop",
            dependencies: [
                .product(name: "Sluice", package: "sluice"),
                .product(name: "SluicePostgres", package: "sluice"),
            ],
            plugins: [.plugin(name: "EventCodegenPlugin", package: "sluice")]
        )
    ]
)
