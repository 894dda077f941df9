/// The result of a row.
struct Measurement: Codable {
    /// Whether the ratio must be at least or at most the target.
    enum Goal: String, Codable {
        case atLeast = "at-least"
        case atMost = "at-most"
    }

    /// A secondary figure from the rounds of a row, such as the latency of the disk.
    struct Detail: Codable {
        /// What was measured.
        let what: String
        /// The median.
        let value: Double
        /// The unit of `value`.
        let unit: String
    }

    /// The row's name.
    let row: String
    /// What was measured.
    let what: String
    /// The unit of `ours` and of the figures of the comparisons.
    let unit: String
    /// The median of Sluice's rounds.
    let ours: Double
    /// All of Sluice's rounds, in their order.
    let oursRounds: [Double]
    let goal: Goal
    /// The comparisons with the references.
    let comparisons: [Comparison]
    /// Whether every comparison met its target.
    let passed: Bool
    /// Secondary figures from the same rounds.
    var details: [Detail] = []
    /// How the load was generated, and other explanations of the figures.
    var notes: [String] = []

    /// Measures all sides in turn, round by round, so that other load on the machine affects each of them.
    init(
        of row: some Row,
        unit: String,
        rounds: Int,
        goal: Goal = .atLeast,
        with references: [Reference],
        ours measure: () throws -> Double
    ) throws {
        var ours: [Double] = []
        var theirs = references.map { $0.constant.map { [$0] } ?? [] }
        for _ in 0..<rounds {
            for (index, reference) in references.enumerated() where reference.constant == nil {
                theirs[index].append(try reference.measure())
            }
            ours.append(try measure())
        }
        let middle = median(ours)
        self.row = row.name
        what = row.what
        self.unit = unit
        self.ours = middle
        oursRounds = ours
        self.goal = goal
        comparisons = zip(references, theirs).map { Comparison(of: middle, with: $0, measured: $1, goal: goal) }
        passed = comparisons.allSatisfy(\.passed)
    }
}

/// The ratio of a row to one of its references.
struct Comparison: Codable {
    let kind: Reference.Kind
    /// The reference's name.
    let name: String
    /// The median of the reference's rounds, or the constant.
    let figure: Double
    /// All the reference's rounds, in their order; only the constant for a constant.
    let rounds: [Double]
    /// Sluice's figure divided by `figure`.
    let ratio: Double
    /// The limit for the ratio.
    let target: Double
    /// Whether the ratio met the target.
    let passed: Bool

    fileprivate init(of ours: Double, with reference: Reference, measured: [Double], goal: Measurement.Goal) {
        kind = reference.kind
        name = reference.name
        figure = median(measured)
        rounds = measured
        ratio = ours / figure
        target = reference.target
        passed = goal == .atLeast ? ratio >= target : ratio <= target
    }
}

/// The median of some figures: the middle one, or the mean of the middle two; zero for none.
func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return 0 }
    return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}

/// Parses the number that a program printed.
func figure(_ text: String) throws -> Double {
    guard let value = Double(text.filter { $0 != "\n" }) else { throw BenchmarkError("no figure: \(text)") }
    return value
}
