import Foundation
import SluiceTesting

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A receiver of lines over TCP on the loopback interface, which reads, stalls, closes and disappears when a test says so.
package final class LineReceiver: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private struct State: Sendable {
        var listener: Int32 = -1
        /// The open connections, each with the bytes after its last line feed.
        var connections: [Int32: [UInt8]] = [:]
        var connectionCount = 0
        var lines: [String] = []
        var isReading = true
        /// How many more bytes are read before the connection is closed.
        var allowance = Int.max
        /// What each new connection is sent.
        var greeting: [UInt8] = []
        var isReleased = false
    }

    package let port: Int
    private let state = Watched(State())

    package var url: String { "tcp://127.0.0.1:\(port)" }

    /// Listens on a free port.
    ///
    /// `receiveBuffer` limits how much the kernel acknowledges of what is not read; the system doubles it.
    package init(receiveBuffer: Int32? = nil, greeting: [UInt8] = []) throws {
        let (listener, port) = try Self.listen(on: 0, receiveBuffer: receiveBuffer)
        self.port = port
        state.update { state in
            state.listener = listener
            state.greeting = greeting
        }
        let state = state
        Thread.detachNewThread {
            while true {
                let descriptors = state.value.isReleased ? nil : Self.polled(state.value)
                guard var descriptors else { return }
                // The time limit is how long a change of the behaviour may take to be seen.
                poll(&descriptors, nfds_t(descriptors.count), 10)
                state.update { if !$0.isReleased { Self.pump(&$0) } }
            }
        }
    }

    deinit {
        state.update { state in
            state.isReleased = true
            Self.disappear(&state)
        }
    }

    // MARK: What arrived

    /// The complete lines of everything that the kernel has acknowledged so far, unless reading is stopped.
    package var lines: [String] {
        state.update { state in
            Self.pump(&state)
            return state.lines
        }
    }

    /// The number of connections that were accepted so far.
    package var connectionCount: Int {
        state.update { state in
            Self.pump(&state)
            return state.connectionCount
        }
    }

    /// Waits until so many connections were accepted.
    package func waitForConnections(_ count: Int) async { await state.wait { $0.connectionCount >= count } }

    /// Waits until so many lines have arrived.
    package func waitForLines(_ count: Int) async { await state.wait { $0.lines.count >= count } }

    // MARK: Behaviour

    /// Reads nothing more, and accepts connections.
    package func stall() { state.update { $0.isReading = false } }

    /// Reads everything again.
    package func resume() {
        state.update { state in
            state.isReading = true
            state.allowance = .max
        }
    }

    /// Closes the connection that the next bytes come from, once so many were read; further ones may send no more than one byte.
    package func close(afterBytes count: Int) { state.update { $0.allowance = count } }

    /// Closes all connections.
    ///
    /// What the kernel has acknowledged is read before, unless reading is stopped; then the kernel resets the connections.
    package func closeConnections() { state.update { Self.closeConnections(&$0) } }

    /// Closes all connections, and refuses new ones.
    package func disappear() { state.update { Self.disappear(&$0) } }

    /// Listens again, on the same port.
    package func appear() throws {
        let (listener, _) = try Self.listen(on: UInt16(port), receiveBuffer: nil)
        state.update { $0.listener = listener }
    }

    // MARK: Sockets

    private static func listen(on port: UInt16, receiveBuffer: Int32?) throws -> (descriptor: Int32, port: Int) {
        let listener = SilentProxy.makeSocket()
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        if var receiveBuffer {
            setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = SilentProxy.address(port: port)
        guard SilentProxy.withAddress(&address, { bind(listener, $0, $1) }) == 0, Self.listen(listener) else {
            throw Failure(description: "the receiver cannot listen (error \(errno))")
        }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
        }
        return (listener, Int(UInt16(bigEndian: address.sin_port)))
    }

    private static func listen(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        return Darwin.listen(descriptor, 64) == 0 && fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0
        #else
        return Glibc.listen(descriptor, 64) == 0 && fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0
        #endif
    }

    private static func polled(_ state: State) -> [pollfd] {
        let connections = state.isReading ? Array(state.connections.keys) : []
        return ([state.listener] + connections).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    }

    /// Accepts and reads until there is nothing more.
    private static func pump(_ state: inout State) {
        while state.listener >= 0 {
            let descriptor = accept(state.listener, nil, nil)
            guard descriptor >= 0 else { break }
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            state.connections[descriptor] = []
            state.connectionCount += 1
            _ = state.greeting.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, SilentProxy.noSignal) }
        }
        guard state.isReading else { return }
        for descriptor in state.connections.keys { read(descriptor, &state) }
    }

    private static func read(_ descriptor: Int32, _ state: inout State) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(descriptor, &buffer, min(buffer.count, max(1, state.allowance)), 0)
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            guard count > 0 else { return close(descriptor, &state) }
            if state.allowance < .max { state.allowance = max(0, state.allowance - count) }
            state.connections[descriptor]?.append(contentsOf: buffer[..<count])
            takeLines(of: descriptor, &state)
            if state.allowance == 0 { return close(descriptor, &state) }
        }
    }

    private static func takeLines(of descriptor: Int32, _ state: inout State) {
        guard let bytes = state.connections[descriptor],
            let end = bytes.lastIndex(of: UInt8(ascii: "\n"))
        else { return }
        state.lines += bytes[..<end].split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        state.connections[descriptor] = Array(bytes[(end + 1)...])
    }

    private static func close(_ descriptor: Int32, _ state: inout State) {
        state.connections[descriptor] = nil
        // The thread may be polling it, and the kernel would acknowledge bytes until that ends. Unread bytes shall reset the
        // connection, which would be closed in an orderly way by this.
        if state.isReading { shutdown(descriptor, Int32(SHUT_RDWR)) }
        #if canImport(Darwin)
        Darwin.close(descriptor)
        #else
        Glibc.close(descriptor)
        #endif
    }

    private static func closeConnections(_ state: inout State) {
        pump(&state)
        for descriptor in state.connections.keys {
            if state.isReading {
                // From here on the kernel acknowledges nothing more.
                shutdown(descriptor, Int32(SHUT_RDWR))
                read(descriptor, &state)
            }
            if state.connections[descriptor] != nil { close(descriptor, &state) }
        }
    }

    private static func disappear(_ state: inout State) {
        closeConnections(&state)
        if state.listener >= 0 { close(state.listener, &state) }
        state.listener = -1
    }
}
