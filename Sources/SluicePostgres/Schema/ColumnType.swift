package import EventSchema

/// The column types that Sluice uses.
package enum ColumnType: UInt8, Sendable, Hashable, CaseIterable {
    case text
    case bigint
    case doublePrecision
    case numeric
    case boolean
    case timestamptz
    case date
    case uuid
    case jsonb

    /// The column type for a property.
    package init(_ type: PropertyType) {
        switch type.kind {
        case .string: self = .text
        case .integer: self = .bigint
        case .number: self = .doublePrecision
        case .decimal: self = .numeric
        case .boolean: self = .boolean
        case .timestamp: self = .timestamptz
        case .date: self = .date
        case .uuid: self = .uuid
        case .array, .object, .any: self = .jsonb
        }
    }

    /// The type's name in the spelling of the server's `format_type`.
    package var sql: String {
        switch self {
        case .text: "text"
        case .bigint: "bigint"
        case .doublePrecision: "double precision"
        case .numeric: "numeric"
        case .boolean: "boolean"
        case .timestamptz: "timestamp with time zone"
        case .date: "date"
        case .uuid: "uuid"
        case .jsonb: "jsonb"
        }
    }
}
