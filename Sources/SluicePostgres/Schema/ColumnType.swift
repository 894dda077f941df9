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

    /// The type's name in the spelling of `PresentTable.typeExpression`.
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

    /// The type's name in the server's catalog, which no other type in the search path can hide.
    var catalogName: String {
        switch self {
        case .text: "pg_catalog.text"
        case .bigint: "pg_catalog.int8"
        case .doublePrecision: "pg_catalog.float8"
        case .numeric: "pg_catalog.numeric"
        case .boolean: "pg_catalog.bool"
        case .timestamptz: "pg_catalog.timestamptz"
        case .date: "pg_catalog.date"
        case .uuid: "pg_catalog.uuid"
        case .jsonb: "pg_catalog.jsonb"
        }
    }
}
