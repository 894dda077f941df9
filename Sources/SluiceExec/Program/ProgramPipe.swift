import CSpawn
import TrackerKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A pipe of which the program gets one end.
struct ProgramPipe {
    let reading: Int32
    let writing: Int32

    /// Makes a pipe that no other program inherits.
    init() throws(TrackerError) {
        var (reading, writing): (Int32, Int32) = (0, 0)
        let number = cspawn_pipe(&reading, &writing)
        guard number == 0 else {
            throw ExecErrors.unavailable("The system refused a pipe: \(ExecErrors.text(of: number)).")
        }
        (self.reading, self.writing) = (reading, writing)
    }

    func close() {
        closeDescriptor(reading)
        closeDescriptor(writing)
    }

    /// Lets the calls for an end return at once if they would wait.
    static func setNonblocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }
}

/// Closes a descriptor; there is nothing to do about an error.
func closeDescriptor(_ descriptor: Int32) {
    #if canImport(Glibc)
    _ = Glibc.close(descriptor)
    #elseif canImport(Musl)
    _ = Musl.close(descriptor)
    #else
    _ = Darwin.close(descriptor)
    #endif
}
