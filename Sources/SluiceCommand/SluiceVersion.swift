/// Which Sluice this is.
enum SluiceVersion {
    /// The version of the last heading in CHANGELOG.md, or of the one to come with `-dev`.
    ///
    /// It stands here and nowhere else; a test holds it to the changelog.
    static let current = "0.1.0-dev"
}
