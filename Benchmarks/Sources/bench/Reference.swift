/// A figure that a row is compared with.
struct Reference {
    /// The kind of the reference.
    enum Kind: String, Codable {
        /// Another program that does only the work of the layer below Sluice, measured in the same rounds.
        case ceiling
        /// Sluice itself, doing the same in another way, measured in the same rounds.
        case itself = "sluice"
        /// A fixed figure that is not measured.
        case constant
    }

    let kind: Kind
    /// A short name for the table.
    let name: String
    /// The limit for the ratio of Sluice's figure to this one.
    let target: Double
    /// The figure, if it is a constant.
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

    /// A fixed figure.
    static func constant(_ name: String, _ figure: Double, target: Double = 1) -> Reference {
        Reference(kind: .constant, name: name, target: target, constant: figure) { figure }
    }
}
