/// The open connections of the private port, and which of them has to make room for a further one.
///
/// Three groups have separate limits: authorized connections, others from this machine, and others from other machines.
/// So a client without the token cannot displace one with it, and another machine cannot displace a probe on this
/// machine. In the last two groups, one address gets at most half of the places. A further connection never waits: it
/// replaces the oldest one of the same address, or of the address with the most connections, because honest clients
/// without the token stay connected only for a moment.
package struct ConnectionPlaces<ID: Hashable> {
    /// Who is at the other end of a connection, as far as its requests have shown.
    package enum Group {
        /// Somebody who may use the port.
        case authorized
        /// Somebody else on this machine.
        case local
        /// Somebody else on another machine.
        case remote
    }

    private struct Connection {
        let address: String
        let isLocal: Bool
        var group: Group
        /// Whether a complete request is being answered.
        var isBusy = false
        /// Grows with each connection.
        let number: UInt64
    }

    private let limit: Int
    private var connections: [ID: Connection] = [:]
    private var lastNumber: UInt64 = 0

    /// Makes places for `limit` connections of those who may use the port, and half as many for each group of the others.
    package init(limit: Int) {
        self.limit = limit
    }

    /// The number of connections of a group.
    package func count(of group: Group) -> Int { connections.values.count { $0.group == group } }

    /// Adds a new connection.
    ///
    /// - Returns: The connection that has to be closed, which is removed, or `nil`.
    package mutating func add(_ id: ID, from address: String, isLocal: Bool) -> ID? {
        lastNumber += 1
        let group = isLocal ? Group.local : .remote
        let victim = makeRoom(in: group, for: address)
        connections[id] = Connection(address: address, isLocal: isLocal, group: group, number: lastNumber)
        return victim
    }

    /// Notes whether the latest request of a connection is from somebody who may use the port.
    ///
    /// - Returns: The connection that has to be closed, which is removed and may be this one, or `nil`.
    package mutating func authorize(_ id: ID, _ isAuthorized: Bool) -> ID? {
        guard let connection = connections[id] else { return nil }
        let group = isAuthorized ? Group.authorized : connection.isLocal ? .local : .remote
        guard group != connection.group else { return nil }
        connections[id] = nil
        let victim = makeRoom(in: group, for: connection.address)
        guard victim != nil || hasRoom(in: group) else { return id }
        connections[id] = connection
        connections[id]?.group = group
        return victim
    }

    /// Notes whether a complete request of a connection is being answered.
    package mutating func setBusy(_ id: ID, _ isBusy: Bool) { connections[id]?.isBusy = isBusy }

    /// Removes a connection that is closed.
    package mutating func remove(_ id: ID) { connections[id] = nil }

    private func limit(of group: Group) -> Int { group == .authorized ? limit : max(1, limit / 2) }

    private func hasRoom(in group: Group) -> Bool { count(of: group) < limit(of: group) }

    /// Removes a connection if a further one would be too many for its group or its address.
    private mutating func makeRoom(in group: Group, for address: String) -> ID? {
        let members = connections.filter { $0.value.group == group }
        let addresses = members.values.reduce(into: [:]) { $0[$1.address, default: 0] += 1 }
        let candidates: [ID: Connection]
        if group != .authorized, addresses[address, default: 0] >= max(1, limit(of: group) / 2) {
            candidates = members.filter { $0.value.address == address }
        } else if members.count >= limit(of: group) {
            let most = addresses.values.max()
            // Somebody who may use the port is interrupted only between two requests.
            candidates = members.filter {
                group == .authorized ? !$0.value.isBusy : addresses[$0.value.address] == most
            }
        } else {
            return nil
        }
        let victim = candidates.min {
            ($0.value.isBusy ? 1 : 0, $0.value.number) < ($1.value.isBusy ? 1 : 0, $1.value.number)
        }
        if let victim { connections[victim.key] = nil }
        return victim?.key
    }
}
