import Operations
import TestPromises
import Testing

@Suite("The places of the private port's connections")
struct ConnectionPlacesTests {
    /// Places of numbered connections.
    private final class Places {
        private var places: ConnectionPlaces<Int>

        init(limit: Int) {
            places = ConnectionPlaces(limit: limit)
        }

        func count(of group: ConnectionPlaces<Int>.Group) -> Int { places.count(of: group) }
        func add(_ number: Int, from address: String, isLocal: Bool = false) -> Int? {
            places.add(number, from: address, isLocal: isLocal)
        }
        func authorize(_ number: Int, _ isAuthorized: Bool) -> Int? { places.authorize(number, isAuthorized) }
        func setBusy(_ number: Int, _ isBusy: Bool) { places.setBusy(number, isBusy) }
        func remove(_ number: Int) { places.remove(number) }
    }

    @Test(
        "those without the token have half as many places for each machine, and one address half of them",
        .promise("private-port-flood")
    )
    func shares() {
        let places = Places(limit: 64)
        var closed: [Int] = []
        for number in 0..<40 { closed += [places.add(number, from: "192.0.2.1")].compactMap { $0 } }
        // The oldest ones make room.
        #expect(closed == Array(0..<24))
        #expect(places.count(of: .remote) == 16)
        for number in 40..<80 {
            let address = "192.0.2.\(number)"
            let victim = places.add(number, from: address)
            // Of the address with the most connections, as long as it has more than one.
            if number < 56 { #expect(victim == nil) } else if number < 71 { #expect((24..<40).contains(victim ?? 0)) }
        }
        #expect(places.count(of: .remote) == 32)
        // Nothing of that concerns this machine, nor those who have shown the token.
        for number in 100..<116 { #expect(places.add(number, from: "127.0.0.1", isLocal: true) == nil) }
        #expect(places.authorize(79, true) == nil)
        #expect(places.count(of: .local) == 16)
        #expect(places.count(of: .authorized) == 1)
    }

    @Test("a request that is being answered makes room last, and one with the token never")
    func busy() {
        let places = Places(limit: 64)
        for number in 0..<16 {
            _ = places.add(number, from: "192.0.2.1")
            places.setBusy(number, number < 15)
        }
        #expect(places.add(16, from: "192.0.2.1") == 15)
        places.setBusy(16, true)
        #expect(places.add(17, from: "192.0.2.1") == 0)

        let authorized = Places(limit: 2)
        for number in 0..<2 {
            _ = authorized.add(number, from: "192.0.2.1")
            #expect(authorized.authorize(number, true) == nil)
            authorized.setBusy(number, true)
        }
        // Then the further connection itself is closed.
        #expect(authorized.add(2, from: "192.0.2.1") == nil)
        #expect(authorized.authorize(2, true) == 2)
        #expect(authorized.count(of: .remote) == 0)
        authorized.setBusy(0, false)
        #expect(authorized.add(3, from: "192.0.2.1") == nil)
        #expect(authorized.authorize(3, true) == 0)
        // A later request without the token takes a place of the others again.
        #expect(authorized.authorize(1, false) == nil)
        #expect(authorized.count(of: .authorized) == 1)
        authorized.remove(1)
        authorized.remove(3)
        #expect(authorized.count(of: .authorized) == 0)
    }
}
