extension Int {
    /// The number with a noun in the singular or plural: `1 event`, `2 events`.
    package func of(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
