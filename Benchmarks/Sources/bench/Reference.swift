/// Something that a row is compared with.
struct Reference {
    /// What the comparison can show.
    enum Kind: String, Codable {
        /// Another program that does only what Sluice builds on, measured in the same rounds.
        case ceiling
        /// Sluice itself, which does the same in another way, measured in the same rounds.
        case itself = "sluice"
        /// A figure that was set beforehand and is not measured.
        case constant
    }

    let kind: Kind
    /// A few words, for the table.
    let name: String
    /// The limit for the ratio of ours to this.
    let target: Double
    /// The figure, where it is set beforehand.
    let constant: Double?
    /// Measures one round.
    let measure: () throws -> Double

    /// Another program, measured in the same rounds.
    static func ceiling(_ name: String, target: Double, measure: @escaping () throws -> Double) -> Reference {
        Reference(kind: .ceiling, name: name, target: target, constant: nil, measure: measure)
    }

    /// Sluice itself, measured in the same rounds.
    static func itself(_ name: String, target: Double, measure: @escaping () throws -> Double) -> Reference {
        Reference(kind: .itself, name: name, target: target, constant: nil, measure: measure)
    }

    /// A figure that was set beforehand.
    static func constant(_ name: String, _ figure: Double, target: Double = 1) -> Reference {
        Reference(kind: .constant, name: name, target: target, constant: figure) { figure }
    }
}
