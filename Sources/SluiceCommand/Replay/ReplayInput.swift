/// Something that a replay reads lines from.
protocol ReplayInput: AnyObject {
    /// How many bytes lie behind, for the progress.
    var bytesRead: Int { get }

    /// The next whole lines; `nil` after the last, and when nothing more shall be read.
    func next() throws -> [UInt8]?

    /// What could not be read and was passed over since this was last asked, a sentence each.
    func takeFailures() -> [String]
}
