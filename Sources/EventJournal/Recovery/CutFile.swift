/// A file beside the segments that keeps the damaged bytes that recovery or a repair removed from a segment.
package struct CutFile: Sendable, Hashable {
    private static let suffix = ".cut"

    /// The file's name, such as `00000000000000000000.segment.312.cut`.
    package let name: String
    /// The file's size.
    package let byteCount: Int

    /// Whether a file is one of these, by its name.
    static func isCut(_ name: String) -> Bool { name.hasSuffix(suffix) }

    /// How long the files are kept; then they are removed when the journal is opened, or with the next segment.
    package static let retention = Duration.seconds(90 * 86_400)

    /// Removes the files that are older than `retention` and whose segments are gone; `now` is in microseconds since 1970.
    ///
    /// As long as a segment exists, its file explains which events it lacks. One that cannot be removed stays until the next time.
    static func removeOld(in files: any FileSystem, now: Int64) throws(FileError) {
        let names = try files.names()
        let segments = names.filter { SegmentName($0) != nil }
        for name in names where isCut(name) && !segments.contains(where: { name.hasPrefix($0 + ".") }) {
            guard let written = try? files.modificationTime(of: name), written <= now,
                .from(written, to: now) >= retention
            else { continue }
            try? files.remove(name)
        }
    }

    /// Copies damaged bytes into a new file and syncs the file; the caller syncs the folder before it removes the bytes.
    ///
    /// Bytes may have been removed at the same offset before, so the name gets a number if it is taken.
    ///
    /// - Returns: The file's name.
    static func keep(
        _ damage: Damage,
        of file: any JournalFile,
        in files: any FileSystem
    ) throws(FileError) -> String {
        let taken = Set(try files.names())
        let stem = "\(damage.segment).\(damage.offset)"
        var name = stem + suffix
        var number = 1
        while taken.contains(name) {
            number += 1
            name = "\(stem).\(number)\(suffix)"
        }
        let copy = try files.create(name)
        do throws(FileError) {
            try file.copy(damage.range, to: copy, at: 0)
            try copy.sync()
            return name
        } catch {
            try? files.remove(name)
            throw error
        }
    }
}
