// swift-tools-version: 6.2
import PackageDescription

// Built by `make fuzz` with libFuzzer and AddressSanitizer; a separate package, because no other target uses these flags.
let package = Package(
    name: "sluice-fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "sluice", path: "..")
    ],
    targets: [
        .executableTarget(
            name: "event-check",
            dependencies: [
                .product(name: "PlanReading", package: "sluice"),
                .product(name: "Sluice", package: "sluice"),
            ]
        ),
        .executableTarget(
            name: "plan-reader",
            dependencies: [
                .product(name: "PlanReading", package: "sluice"),
                .product(name: "Sluice", package: "sluice"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
        .unsafeFlags(["-parse-as-library"]),
    ]
}
