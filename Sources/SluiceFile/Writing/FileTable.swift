/// The unfinished files of a tracker: those that are written to, and those that are complete and have to get their names.
///
/// It decides which files are complete, and which are closed to save descriptors.
struct FileTable {
    /// How many files are open at a time; the others are opened for each delivery that has events for them.
    static let maximumOpenFiles = 128
    /// How many files are written to; of more, the one that was not used for the longest time is complete.
    private static let maximumFiles = 10_000

    private var written: [FileTarget: UnfinishedFile] = [:]
    private var open: [UnfinishedFile] = []
    private var uses = 0
    /// Those that have to get their names.
    private(set) var complete: [UnfinishedFile] = []

    /// The file that is written to for a target; `nil` if there is none.
    func file(for target: FileTarget) -> UnfinishedFile? { written[target] }

    /// Notes that a file is used now, and is open.
    mutating func noteUse(of file: UnfinishedFile) {
        uses += 1
        file.lastUse = uses
        if !open.contains(where: { $0 === file }) { open.append(file) }
        guard open.count > Self.maximumOpenFiles else { return }
        let oldest = open.indices.min { open[$0].lastUse < open[$1].lastUse }
        if let oldest { open.remove(at: oldest).close() }
    }

    /// Adds a new file, in place of another one with its target.
    mutating func add(_ file: UnfinishedFile) {
        written[file.target] = file
        noteUse(of: file)
        if written.count > Self.maximumFiles {
            end { files in files.min { $0.lastUse < $1.lastUse }.map { [$0] } ?? [] }
        }
    }

    /// Removes a file that is no longer there, or has its name.
    mutating func remove(_ file: UnfinishedFile) {
        if written[file.target] === file { written[file.target] = nil }
        open.removeAll { $0 === file }
        complete.removeAll { $0 === file }
    }

    /// Adds a file that a killed process has left.
    mutating func addComplete(_ file: UnfinishedFile) {
        complete.append(file)
    }

    // MARK: Ends

    /// Ends the files that have this size.
    mutating func endFull(_ files: [UnfinishedFile], maximumBytes: Int) {
        end { _ in files.filter { $0.size >= maximumBytes } }
    }

    /// Ends the files that were created before a time.
    mutating func endOld(createdBefore time: Duration) {
        end { files in files.filter { $0.began <= time } }
    }

    /// Ends all files.
    mutating func endAll() {
        end { Array($0) }
    }

    /// When the oldest file was created; `nil` if none is written to.
    var oldest: Duration? { written.values.lazy.map(\.began).min() }

    private mutating func end(_ choose: (Dictionary<FileTarget, UnfinishedFile>.Values) -> [UnfinishedFile]) {
        for file in choose(written.values) where written[file.target] === file {
            written[file.target] = nil
            complete.append(file)
        }
    }
}
