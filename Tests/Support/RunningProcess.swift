package import Foundation

/// Whether a process exists, and is not a zombie that its parent has yet to wait for.
package func isRunning(_ process: pid_t) -> Bool {
    #if os(Linux)
    guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
    return status.split(separator: ")").last.map { !$0.hasPrefix(" Z") && !$0.hasPrefix(" X") } ?? false
    #else
    return kill(process, 0) == 0
    #endif
}
