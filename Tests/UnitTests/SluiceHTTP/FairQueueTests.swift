import SluiceHTTP
import TestPromises
import Testing

@Suite("The order in which senders get turns")
struct FairQueueTests {
    @Test("the elements of one sender are taken in order")
    func oneSender() {
        var queue = FairQueue<String, Int>()
        for number in 0..<5 { queue.insert(number, of: "a", at: queue.count(of: "a")) }
        queue.insert(9, of: "a", at: 1)
        #expect((0..<6).map { _ in queue.popFirst() } == [0, 9, 1, 2, 3, 4])
        #expect(queue.isEmpty)
        #expect(queue.popFirst() == nil)
    }

    @Test(
        "senders get equal shares of the time, however many elements each has",
        .promise("fair-shares"),
        arguments: [1, 10, 1000]
    )
    func equalShares(garbage: Int) {
        var queue = FairQueue<String, (sender: String, cost: Int)>()
        func add(_ sender: String, _ cost: Int) {
            queue.insert((sender, cost), of: sender, at: queue.count(of: sender))
        }
        for _ in 0..<garbage { add("garbage", 1000) }
        for _ in 0..<10 { add("honest", 10) }
        var used: [String: Int] = [:]
        for _ in 0..<10_000 {
            guard let (sender, cost) = queue.popFirst() else { break }
            queue.charge(sender, cost)
            used[sender, default: 0] += cost
            add(sender, cost)
        }
        let (garbage, honest) = (used["garbage"] ?? 0, used["honest"] ?? 0)
        #expect(abs(garbage - honest) <= 1000)
    }

    @Test("a sender that comes later waits for one turn of another, and gets no time for its absence")
    func latecomer() {
        var queue = FairQueue<String, String>()
        for _ in 0..<100 { queue.insert("a", of: "a", at: queue.count(of: "a")) }
        for _ in 0..<50 {
            _ = queue.popFirst()
            queue.charge("a", 100)
        }
        queue.insert("b", of: "b", at: 0)
        queue.insert("b", of: "b", at: 1)
        var order = ""
        for _ in 0..<6 {
            let next = queue.popFirst() ?? ""
            queue.charge(next, 100)
            order += next
        }
        #expect(order.first == "b")
        #expect(order.prefix(3).count { $0 == "b" } == 2)
    }

    @Test(
        "thousands of senders, as a hostile one with many addresses can be, each get a turn in the order of their arrival"
    )
    func manyAddresses() {
        var queue = FairQueue<Int, Int>()
        for sender in 0..<20_000 { queue.insert(sender, of: sender, at: 0) }
        for sender in 0..<20_000 {
            guard queue.popFirst() == sender else {
                Issue.record("the sender \(sender) was passed over")
                return
            }
            queue.charge(sender, 1)
        }
        #expect(queue.isEmpty)
    }

    @Test("senders that are gone are forgotten, and those that wait are not")
    func manySenders() {
        var queue = FairQueue<Int, Int>()
        queue.insert(7, of: -1, at: 0)
        for sender in 0..<10_000 {
            queue.insert(sender, of: sender, at: 0)
            queue.charge(sender, 1)
            #expect(queue.popFirst() != nil)
        }
        #expect(queue.count == 1)
        #expect(queue.popFirst() != nil)
        #expect(queue.isEmpty)
    }
}
