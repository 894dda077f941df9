import Foundation
import Synchronization

/// Kills the processes that tests have started and not ended when this process ends, for whatever reason.
///
/// A shell waits until its standard input closes, which happens when this process ends; then it kills every process group
/// that was added and not removed.
enum ProcessWatch {
    private static let script = """
        pids=' '
        while read -r what pid; do
            case $what in
            add) pids="$pids$pid " ;;
            *) case $pids in *" $pid "*) pids="${pids%% $pid *} ${pids#* $pid }" ;; esac ;;
            esac
        done
        for pid in $pids; do kill -9 -- "-$pid"; done 2>/dev/null
        """

    private static let shell: Mutex<FileHandle?> = Mutex(start())

    /// Adds a process, which must lead a process group.
    static func add(_ process: Int32) { tell("add \(process)") }

    /// Removes a process that has ended.
    static func forget(_ process: Int32) { tell("forget \(process)") }

    private static func tell(_ line: String) {
        shell.withLock { try? $0?.write(contentsOf: Data((line + "\n").utf8)) }
    }

    private static func start() -> FileHandle? {
        let process = Process()
        let input = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script]
        process.standardInput = input
        guard (try? process.run()) != nil else { return nil }
        return input.fileHandleForWriting
    }
}
