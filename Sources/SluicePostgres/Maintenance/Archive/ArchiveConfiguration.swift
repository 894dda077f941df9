/// How partitions are archived before they are dropped.
package struct ArchiveConfiguration: Sendable {
    /// The program and its arguments; none archives nothing.
    package var command: [String] = []
    /// The folder of all archives.
    package var folder = ""
    /// How long the program may take for a partition.
    package var timeout = Duration.seconds(6 * 3600)
}
