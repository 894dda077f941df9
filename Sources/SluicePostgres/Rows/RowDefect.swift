/// Why no row can be made of an event; it never holds a value.
package enum RowDefect: Error, Hashable {
    /// The line does not have the canonical form, at this byte.
    case notCanonical(offset: Int)
    /// The value that ends at this byte does not fit its column's type.
    case unfit(ColumnType, offset: Int)

    /// The reason of the refusal, for the operator.
    package var reason: String {
        switch self {
        case .notCanonical(let offset):
            "The event's line is not canonical JSON of its definition, at byte \(offset)."
        case .unfit(let type, let offset):
            "The value that ends at byte \(offset) does not fit a column of type \(type.sql)."
        }
    }
}
