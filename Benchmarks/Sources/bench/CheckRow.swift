/// The check, on one thread.
struct CheckRow: Row {
    let name: String
    let what: String
    fileprivate let target: Double
    /// The path of the plan.
    fileprivate let plan: @Sendable (Site) -> String
    /// Creates the file with so many events.
    fileprivate let events: @Sendable (Material, Int) throws -> String
    /// Further arguments of `bench-check`.
    fileprivate var arguments: [String] = []

    private static let count = 100_000
    private static let batch = 100
    private static let passes = 20
    /// A round takes a fraction of a second, and other load spoils whole rounds, so there are more of them.
    private static let roundsEach = 4

    static let all = [
        CheckRow(
            name: "check",
            what: "parse + check + encode, one thread, batches of \(batch) events of 227 bytes",
            target: 0.35,
            plan: \.plan
        ) {
            try $0.uniform(count: $1)
        },
        CheckRow(
            name: "check-patterns",
            what: "the same events; the plan has a regular expression for each of their texts",
            target: 0.15,
            plan: { "\($0.plans)/patterns.plist" }
        ) {
            try $0.uniform(count: $1)
        },
        CheckRow(
            name: "check-order",
            what: "the same events, with their keys in the reverse of the plan's order",
            target: 0.25,
            plan: \.plan
        ) {
            try $0.reversed(count: $1)
        },
        CheckRow(
            name: "check-escapes",
            what: #"the same events, with \", \/, \n and \u escapes in one of their texts"#,
            target: 0.25,
            plan: \.plan
        ) {
            try $0.escaped(count: $1)
        },
        CheckRow(
            name: "check-nesting",
            what: "two invoice lines an event, as objects in an array in an object in the payload",
            target: 0.25,
            plan: { "\($0.plans)/nesting.plist" }
        ) {
            try $0.nested(count: $1)
        },
        CheckRow(
            name: "check-real",
            what: "the real events as they are, of 164 to 236 bytes",
            target: 0.35,
            plan: \.plan
        ) {
            try $0.real(count: $1)
        },
        CheckRow(
            name: "check-rejected",
            what: "the events of `check`, one in ten of which is rejected and explained",
            target: 0.25,
            plan: \.plan,
            events: { try $0.rejected(count: $1) },
            arguments: ["rejected"]
        ),
    ]

    func measure(at site: Site) throws -> Measurement {
        let file = try events(Material(at: site), Self.count)
        let simdjson = Reference.ceiling("simdjson parse_many", target: target) {
            try figure(
                Child.run("\(site.ceilings)/simdjson-parse", [file, String(Self.batch), String(Self.passes)])
            )
        }
        var measurement = try Measurement(
            of: self,
            unit: "events/s",
            rounds: site.rounds * Self.roundsEach,
            with: [simdjson]
        ) {
            try figure(
                Child.run(
                    "\(site.programs)/bench-check",
                    [plan(site), file, String(Self.batch), String(Self.passes)] + arguments
                )
            )
        }
        measurement.notes = [
            "ceiling: a DOM of each event by simdjson's document stream, over the same blocks of \(Self.batch) lines; no check",
            "\(Self.count) distinct events, \(Self.passes) passes a round, by the processor time of the one thread",
        ]
        return measurement
    }
}
