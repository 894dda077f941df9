import EventModel
package import EventSchema

/// The mapping from an event's payload to columns, computed once for each definition.
package struct RowLayout: Sendable {
    /// The column of a property.
    struct Column: Sendable {
        let type: ColumnType
        /// The offset of the key's text in `keys`.
        let keyStart: Int
        let keyLength: Int
    }

    /// The columns of the properties whose values are not dropped, in the order of the definition.
    let columns: [Column]
    /// The keys in canonical form, with quotes and colon, concatenated.
    let keys: [UInt8]
    /// Whether properties that are not in the plan are stored in a column of their own.
    let hasExtra: Bool
    /// The number of fields in a row.
    let fieldCount: Int16
    /// The maximum size of a row beyond the length of its line.
    ///
    /// A field of fixed size takes at most 20 bytes, and any other at most 16 bytes more than its text.
    let overhead: Int

    package init(_ definition: EventDefinition) {
        var keys: [UInt8] = []
        columns = definition.properties.filter { !$0.isDropped }.map { property in
            let start = keys.count
            keys += JSONString.canonical(property.name) + [UInt8(ascii: ":")]
            return Column(type: ColumnType(property.type), keyStart: start, keyLength: keys.count - start)
        }
        self.keys = keys
        hasExtra = definition.allowsAdditionalProperties
        // PostgreSQL itself allows at most 1,600 columns.
        let fields = EventTable.ownColumns.count + columns.count + (hasExtra ? 1 : 0)
        fieldCount = Int16(clamping: fields)
        overhead = fields * 24 + 64
    }
}
