package import Testing

/// The promises of Documentation/Trust/Promises.md that a test shows.
///
/// Tests/ArchitectureTests reads the trait from the source of the tests, so write it with literals, directly after the
/// test's name.
package struct PromiseTrait: TestTrait, SuiteTrait {
    /// The identifiers of the promises.
    package let identifiers: [String]
}

extension Trait where Self == PromiseTrait {
    /// The test shows the promises with these identifiers.
    package static func promise(_ identifiers: String...) -> Self {
        PromiseTrait(identifiers: identifiers)
    }
}
