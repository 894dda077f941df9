package import EventSchema

/// How the payload of an event becomes columns: made once for a definition, used for each of its rows.
package struct RowLayout: Sendable {
    /// A column of a property.
    struct Column: Sendable {
        let type: ColumnType
        /// Where the key's text stands in `keys`.
        let keyStart: Int
        let keyLength: Int
    }

    /// The properties' columns, in the order of the definition.
    let columns: [Column]
    /// The keys as they stand in the canonical form, with quotes and colon, one after the other.
    let keys: [UInt8]
    /// Whether properties that the plan does not name go to a column of their own.
    let hasExtra: Bool
    /// How many fields a row has.
    let fieldCount: Int16
    /// What a row takes at most beyond its line: fixed-size fields take at most 20 bytes, all others no more than
    /// their text and 16 bytes.
    let overhead: Int

    package init(_ definition: EventDefinition) {
        var keys: [UInt8] = []
        columns = definition.properties.map { property in
            let start = keys.count
            keys += Self.key(property.name)
            return Column(type: ColumnType(property.type), keyStart: start, keyLength: keys.count - start)
        }
        self.keys = keys
        hasExtra = definition.allowsAdditionalProperties
        // PostgreSQL itself stops at 1,600 columns.
        let fields = EventTable.ownColumns.count + columns.count + (hasExtra ? 1 : 0)
        fieldCount = Int16(clamping: fields)
        overhead = fields * 24 + 64
    }

    /// A key as the canonical form writes it: with as few escapes as JSON allows, in their shortest form.
    private static func key(_ name: String) -> [UInt8] {
        var key = [UInt8(ascii: "\"")]
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): key += [UInt8(ascii: "\\"), byte]
            case 0x08: key += Array(#"\b"#.utf8)
            case 0x09: key += Array(#"\t"#.utf8)
            case 0x0A: key += Array(#"\n"#.utf8)
            case 0x0C: key += Array(#"\f"#.utf8)
            case 0x0D: key += Array(#"\r"#.utf8)
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                key += Array((#"\u00"# + (digits.count == 1 ? "0" : "") + digits).utf8)
            default: key.append(byte)
            }
        }
        return key + Array("\":".utf8)
    }
}
