/// What a row came to.
struct Measurement: Codable {
    /// Which side of the target is good.
    enum Goal: String, Codable {
        case atLeast = "at-least"
        case atMost = "at-most"
    }

    /// The row's name.
    let row: String
    /// What was measured.
    let what: String
    /// What `ours` and `ceiling` count.
    let unit: String
    /// The median of our rounds.
    let ours: Double
    /// The median of the ceiling's rounds, or the limit where there is nothing to measure against.
    let ceiling: Double
    /// Ours, as a share of the ceiling.
    let ratio: Double
    let goal: Goal
    /// What the ratio is held against.
    let target: Double
    /// Whether the target was met.
    let passed: Bool
    /// All our rounds, as they came.
    let oursRounds: [Double]
    /// All the ceiling's rounds, as they came.
    let ceilingRounds: [Double]
    /// How the load was made, and whatever else explains the figures.
    let notes: [String]

    /// Compares the medians of rounds.
    init(of row: some Row, unit: String, _ rounds: Rounds, goal: Goal = .atLeast, target: Double, notes: [String]) {
        self.row = row.name
        what = row.what
        self.unit = unit
        ours = median(rounds.ours)
        ceiling = median(rounds.ceiling)
        ratio = ours / ceiling
        self.goal = goal
        self.target = target
        passed = goal == .atLeast ? ratio >= target : ratio <= target
        oursRounds = rounds.ours
        ceilingRounds = rounds.ceiling
        self.notes = notes
    }
}

/// The figures of both sides, round by round.
struct Rounds {
    var ours: [Double] = []
    var ceiling: [Double] = []

    /// Measures the two sides in turn, so that whatever else the machine does falls on both.
    static func alternate(
        _ count: Int,
        ceiling: () throws -> Double,
        ours: () throws -> Double
    ) rethrows -> Rounds {
        var rounds = Rounds()
        for _ in 0..<count {
            rounds.ceiling.append(try ceiling())
            rounds.ours.append(try ours())
        }
        return rounds
    }
}

/// The middle of some figures, or of the two in the middle their mean; zero where there are none.
func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return 0 }
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}

/// The number that a program printed.
func figure(_ text: String) throws -> Double {
    guard let value = Double(text.filter { $0 != "\n" }) else { throw BenchmarkError("no figure: \(text)") }
    return value
}
