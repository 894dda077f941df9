import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The kernel's queue of what was written to a TCP socket and is not acknowledged by the other side.
enum SendQueue {
    /// The number of bytes that the other side's kernel has not acknowledged; `nil` if the connection has ended.
    ///
    /// Zero is what proves that everything arrived, so it counts only while the connection exists: macOS discards the queue when a
    /// connection is reset, after which it is empty, too.
    static func unacknowledgedBytes(of socket: NIOBSDSocket.Handle) -> Int? {
        var count: Int32 = 0
        #if os(Linux)
        // SIOCOUTQ, by the name that Swift knows.
        guard ioctl(socket, UInt(TIOCOUTQ), &count) == 0 else { return nil }
        #else
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(socket, SOL_SOCKET, SO_NWRITE, &count, &length) == 0 else { return nil }
        #endif
        return isConnected(socket) ? Int(count) : nil
    }

    private static func isConnected(_ socket: NIOBSDSocket.Handle) -> Bool {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &length) == 0 }
        }
    }

    /// Options with which a receiver that vanished is noticed while nothing is sent: after half a minute of silence it is asked every
    /// ten seconds whether it exists, and the connection ends after three questions.
    ///
    /// While bytes are not acknowledged, the kernel does not ask. The time limits of `ReceiverConnection` are for that.
    static var options: [(option: ChannelOptions.Types.SocketOption, value: Int)] {
        var options: [(ChannelOptions.Types.SocketOption, Int)] = [
            (.socketOption(.so_keepalive), 1),
            (tcp(TCP_KEEPINTVL), 10), (tcp(TCP_KEEPCNT), 3),
        ]
        #if os(Linux)
        options.append((tcp(TCP_KEEPIDLE), 30))
        #else
        options.append((tcp(TCP_KEEPALIVE), 30))
        #endif
        return options
    }

    private static func tcp(_ number: CInt) -> ChannelOptions.Types.SocketOption {
        .init(level: .tcp, name: NIOBSDSocket.Option(rawValue: number))
    }
}
