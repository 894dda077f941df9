import Foundation
import SluiceTesting
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A TCP proxy on the loopback interface whose connections can go silent.
///
/// A silent connection carries nothing in either direction, and neither side notices if the other one closes or is killed.
package final class SilentProxy: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private struct State: Sendable {
        /// The open connections, silent or not.
        var links: [Link] = []
        /// The number of calls of `goSilent`.
        var round = 0
        /// The number of connections that have gone silent since the last of those calls.
        var silent = 0
        /// The bytes that a new connection may carry, until one connection has gone silent.
        var allowance: Int?
        var isMute = false
        /// The number of connections that were made.
        var connections = 0
    }

    /// A connection through the proxy; its descriptors are closed when no pump uses it and nothing keeps it silent.
    private final class Link: Sendable {
        private struct Limit {
            var round: Int
            /// The number of bytes that may still go to the server.
            var bytes: Int
        }

        let client: Int32
        let server: Int32
        /// `nil` if everything goes to the server.
        private let limit = Mutex<Limit?>(nil)

        init(client: Int32, server: Int32) {
            self.client = client
            self.server = server
        }

        deinit {
            close(client)
            close(server)
        }

        /// Allows `count` more bytes, unless the connection is already silent.
        func limit(toBytes count: Int, in round: Int) {
            limit.withLock { limit in
                if limit?.bytes != 0 { limit = Limit(round: round, bytes: count) }
            }
        }

        /// Returns how many of the bytes may pass, and subtracts them from the limit.
        func take(_ count: Int) -> Int {
            limit.withLock { limit in
                guard let left = limit?.bytes else { return count }
                limit?.bytes = max(0, left - count)
                return min(left, count)
            }
        }

        /// The round in which the connection went silent; `nil` if it is not silent.
        var silentRound: Int? { limit.withLock { limit in limit.flatMap { $0.bytes == 0 ? $0.round : nil } } }
        var isSilent: Bool { silentRound != nil }

        /// Shuts down both connections, which wakes the threads that wait for them.
        func end() {
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
        }
    }

    package let port: Int
    private let listener: Int32
    private let state = Watched(State())

    /// Listens, and connects each client to a port on 127.0.0.1.
    package init(to target: Int) throws {
        let listener = Self.makeSocket()
        var address = Self.address(port: 0)
        guard Self.withAddress(&address, { bind(listener, $0, $1) }) == 0, listen(listener, 64) == 0 else {
            throw Failure(description: "the proxy cannot listen (error \(errno))")
        }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        self.listener = listener
        let state = state
        Thread.detachNewThread {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                Self.link(client, to: target, state)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        let links = state.update { state in
            defer { state.links = [] }
            return state.links
        }
        for link in links { link.end() }
    }

    /// Lets connections go silent once `count` more bytes have gone to the server.
    ///
    /// This applies to the connections that are open and not silent, and to those that are made before one has gone silent;
    /// later ones are not affected.
    package func goSilent(afterBytes count: Int) {
        state.update { state in
            state.round += 1
            state.silent = 0
            state.allowance = max(1, count)
            for link in state.links { link.limit(toBytes: max(1, count), in: state.round) }
        }
    }

    /// From now on accepts connections, but carries nothing.
    package func goMute() {
        state.update { $0.isMute = true }
    }

    /// The number of connections that clients have made, closed ones included.
    package var connectionCount: Int { state.value.connections }

    /// Waits until a connection has gone silent since the last call of `goSilent`.
    package func waitForSilence() async {
        await state.wait { $0.silent > 0 }
    }

    private static func link(_ client: Int32, to target: Int, _ state: Watched<State>) {
        let server = makeSocket()
        var address = address(port: UInt16(truncatingIfNeeded: target))
        guard withAddress(&address, { connect(server, $0, $1) }) == 0 else {
            close(client)
            close(server)
            return
        }
        let link = Link(client: client, server: server)
        let isMute = state.update { state in
            state.links.append(link)
            state.connections += 1
            if let allowance = state.allowance { link.limit(toBytes: allowance, in: state.round) }
            return state.isMute
        }
        if isMute { return }
        Thread.detachNewThread {
            pump(from: client, to: server, of: link, state) { count in
                let taken = link.take(count)
                if let round = link.silentRound {
                    state.update { state in
                        guard round == state.round else { return }
                        state.silent += 1
                        state.allowance = nil
                    }
                }
                return taken
            }
        }
        Thread.detachNewThread {
            pump(from: server, to: client, of: link, state) { $0 }
        }
    }

    /// Carries bytes until one side closes, or until the connection goes silent; then both sides stay open.
    private static func pump(
        from source: Int32,
        to target: Int32,
        of link: Link,
        _ state: Watched<State>,
        take: (Int) -> Int
    ) {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let received = recv(source, &buffer, buffer.count, 0)
            if link.isSilent { return }
            guard received > 0 else { break }
            let count = take(received)
            var sent = 0
            while sent < count {
                let written = buffer.withUnsafeBytes {
                    send(target, $0.baseAddress.map { $0 + sent }, count - sent, noSignal)
                }
                guard written > 0 else { break }
                sent += written
            }
            if link.isSilent { return }
            guard sent == count else { break }
        }
        link.end()
        state.update { state in state.links.removeAll { $0 === link } }
    }

    #if canImport(Darwin)
    static let noSignal: Int32 = 0

    static func makeSocket() -> Int32 {
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }
    #else
    static let noSignal = Int32(MSG_NOSIGNAL)

    static func makeSocket() -> Int32 { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
    #endif

    static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    static func withAddress(
        _ address: inout sockaddr_in,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
