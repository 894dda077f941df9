import EventModel
import EventSchema
import PatternMatching

/// A plan compiled into flat tables, which events are checked against.
final class CompiledPlan: Sendable {
    /// The rules for one value.
    ///
    /// It holds no references; what is rarely needed is in the arrays of the plan.
    struct Property: BitwiseCopyable {
        let type: PropertyType.Kind
        let isRequired: Bool
        let isNullable: Bool
        let treatment: Treatment
        let hasRange: Bool
        let hasLength: Bool
        /// `,"key":`, escaped.
        let key: ByteTable.Name
        /// For `integer`.
        let leastInteger: Int64
        let greatestInteger: Int64
        /// For `number`.
        let leastNumber: Double
        let greatestNumber: Double
        /// For `string`, in code points.
        let leastLength: Int
        let greatestLength: Int
        /// The index of the definition in `definitions`, and of the exact limits in `decimalLimits`.
        let index: Int
        /// The index in `patterns`, or -1.
        let pattern: Int
        /// The same pattern, if it is a plain one.
        let plainPattern: UnsafeBufferPointer<PlainPattern.Step>?
        /// The allowed values in canonical JSON; `nil` if all values are allowed.
        let enumeration: ByteTable?
        /// The index in `properties` of the rules for an array's items, or -1.
        let items: Int
        /// The index in `objects`, or -1 for a free-form object.
        let object: Int

        /// Whether the property has this type, compared as bytes: `==` of an enum in another module is a call.
        @inline(__always)
        func isOfType(_ other: PropertyType.Kind) -> Bool {
            unsafeBitCast(type, to: UInt8.self) == unsafeBitCast(other, to: UInt8.self)
        }
    }

    /// The exact limits of a decimal.
    struct DecimalLimits {
        let least: ExactDecimal?
        let greatest: ExactDecimal?
    }

    /// The properties of a payload or an object.
    struct Object: BitwiseCopyable {
        let keys: ByteTable
        /// Suggests a key for one that is not in `keys`.
        let suggestions: SuggestionTable
        /// The index of the first of its `keys.count` properties.
        let firstProperty: Int
        /// The index in `objectLocations`.
        let index: Int
        /// Whether additional properties are allowed.
        let isOpen: Bool
        /// Whether it contains no objects and no arrays.
        ///
        /// Only then may the check try the fast path first: with nested objects, a second try would double the work at each
        /// level.
        let isFlat: Bool
    }

    /// The parts of the canonical form that all events of a definition share.
    struct Event: BitwiseCopyable {
        /// `","name":"…","time":"`, escaped.
        let nameAndTimeKey: ByteTable.Name
        let payload: Int
        /// The number of properties of its payload that must be present.
        let requiredProperties: Int
        /// Whether its payload contains no objects and no arrays, and nothing that the plan protects.
        let isFlat: Bool
    }

    /// The texts before the values in the envelope.
    struct EnvelopeKeys: BitwiseCopyable {
        let id: ByteTable.Name
        let receivedAt: ByteTable.Name
        let userID: ByteTable.Name
        let anonymousID: ByteTable.Name
        let sessionID: ByteTable.Name
        let context: ByteTable.Name
        let payload: ByteTable.Name
    }

    /// The tables, without references that would be counted; valid as long as the plan exists.
    struct Tables: BitwiseCopyable {
        /// The names of the envelope's fields.
        let fields: ByteTable
        /// The same, by ordinal, each with its quotation marks and colon.
        let quotedFields: UnsafePointer<ByteTable.Name>
        let keys: EnvelopeKeys
        /// The names of the events.
        let names: ByteTable
        /// Suggests a name for one that is not in `names`.
        let suggestions: SuggestionTable
        let events: UnsafePointer<Event>
        /// Whether an event of the plan is flat.
        let hasFlatEvents: Bool
        let objects: UnsafePointer<Object>
        let properties: UnsafePointer<Property>
        let sensitive: SensitiveKeys
    }

    // Safe to share: the memory of the arena is written in `init` and never afterwards.
    nonisolated(unsafe) let tables: Tables
    nonisolated(unsafe) private let arena: PlanArena

    /// The definitions of the properties, by index.
    let definitions: [PropertyDefinition]
    /// The place of each object in the plan: that of the event for a payload, and of the property for other objects.
    let objectLocations: [PlanLocation]
    let patterns: [Pattern]
    /// The exact limits of decimals, by the property's index.
    let decimalLimits: [DecimalLimits?]
    /// The enumerations whose values cannot be compared as text, by the property's index.
    let allowedValues: [Int: AllowedValues]
    /// The key of hashed values; without one, such values are removed.
    let hashKey: HashKey?

    /// The envelope's fields, in the order of the canonical form.
    static let fieldNames = [
        "id", "name", "time", "receivedAt", "userId", "anonymousId", "sessionId", "context", "payload", "serverTime",
    ]

    /// The number of the envelope's fields.
    static let fieldCount = 10

    init(_ plan: TrackingPlan, hashKey: HashKey?) {
        self.hashKey = hashKey
        let compiler = PlanCompiler()
        let events = plan.events.map { compiler.compile($0) }
        let names = ByteTable(plan.events.map { Array($0.name.utf8) }, in: compiler.arena)
        tables = Tables(
            fields: ByteTable(Self.fieldNames.map { Array($0.utf8) }, in: compiler.arena),
            quotedFields: compiler.quotedFields,
            keys: compiler.envelopeKeys,
            names: names,
            suggestions: SuggestionTable(names, in: compiler.arena),
            events: compiler.arena.allocate(events),
            hasFlatEvents: events.contains(where: \.isFlat),
            objects: compiler.arena.allocate(compiler.objects),
            properties: compiler.arena.allocate(compiler.properties.compactMap(\.self)),
            sensitive: SensitiveKeys(plan, in: compiler.arena)
        )
        arena = compiler.arena
        definitions = compiler.definitions
        objectLocations = compiler.objectLocations
        patterns = compiler.patterns
        decimalLimits = definitions.indices.map { compiler.decimalLimits[$0] }
        allowedValues = compiler.allowedValues
    }
}
