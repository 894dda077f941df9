import EventModel
import EventSchema
import PatternMatching

/// A plan as flat tables, which is what an event is checked against.
final class CompiledPlan: Sendable {
    /// What to do with one value.
    ///
    /// Holds no references; what is looked at rarely stands in the plan's arrays.
    struct Property: BitwiseCopyable {
        let type: PropertyType
        let isRequired: Bool
        let isNullable: Bool
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
        /// Where the definition stands in `definitions`, and the exact limits in `decimalLimits`.
        let index: Int
        /// Which of `patterns`, or -1.
        let pattern: Int
        /// The same pattern, where it is a plain one.
        let plainPattern: UnsafeBufferPointer<PlainPattern.Step>?
        /// The allowed values in canonical JSON; `nil` where all are.
        let enumeration: ByteTable?
        /// Which of `properties` the items of an array are, or -1.
        let items: Int
        /// Which of `objects` it is, or -1 for an object of any kind.
        let object: Int
    }

    /// What a decimal may be.
    struct DecimalLimits {
        let least: ExactDecimal?
        let greatest: ExactDecimal?
    }

    /// The properties that a payload or an object may hold.
    struct Object: BitwiseCopyable {
        let keys: ByteTable
        /// What may have been meant by a key that is none of `keys`.
        let suggestions: SuggestionTable
        /// The first of `keys.count` properties.
        let firstProperty: Int
        /// Where the plan says so, in `objectLocations`.
        let index: Int
        /// Whether it may hold others.
        let isOpen: Bool
        /// Whether nothing in it is worth checking once only: no objects and no arrays.
        ///
        /// Trying one way and then another would double the work at each level.
        let isFlat: Bool
    }

    /// What stands in the canonical form of every event of one definition.
    struct Event: BitwiseCopyable {
        /// `","name":"…","time":"`, escaped.
        let nameAndTimeKey: ByteTable.Name
        let payload: Int
        let requiresPayload: Bool
    }

    /// The texts before the values of the envelope.
    struct EnvelopeKeys: BitwiseCopyable {
        let id: ByteTable.Name
        let receivedAt: ByteTable.Name
        let userID: ByteTable.Name
        let anonymousID: ByteTable.Name
        let sessionID: ByteTable.Name
        let context: ByteTable.Name
        let payload: ByteTable.Name
    }

    /// The tables without a reference to count; they live as long as the plan.
    struct Tables: BitwiseCopyable {
        /// The names of the envelope's fields.
        let fields: ByteTable
        let keys: EnvelopeKeys
        /// The names of the events.
        let names: ByteTable
        /// What may have been meant by a name that is none of `names`.
        let suggestions: SuggestionTable
        let events: UnsafePointer<Event>
        let objects: UnsafePointer<Object>
        let properties: UnsafePointer<Property>
    }

    // Safe to share: the arena's memory is written in `init` and never after.
    nonisolated(unsafe) let tables: Tables
    nonisolated(unsafe) private let arena: PlanArena

    /// The definitions of the properties, by their index.
    let definitions: [PropertyDefinition]
    /// Where the plan describes each object: an event for its payload, a property for what is below.
    let objectLocations: [PlanLocation]
    let patterns: [Pattern]
    /// By the property's index.
    let decimalLimits: [DecimalLimits?]
    /// By the property's index: the enumerations that `Property.enumeration` cannot decide by text.
    let allowedValues: [Int: AllowedValues]

    /// The envelope's fields, in the order of the canonical form.
    static let fieldNames = [
        "id", "name", "time", "receivedAt", "userId", "anonymousId", "sessionId", "context", "payload",
    ]

    /// How many they are.
    static let fieldCount = 9

    init(_ plan: TrackingPlan) {
        let compiler = PlanCompiler()
        let events = plan.events.map { compiler.compile($0) }
        let names = ByteTable(plan.events.map { Array($0.name.utf8) }, in: compiler.arena)
        tables = Tables(
            fields: ByteTable(Self.fieldNames.map { Array($0.utf8) }, in: compiler.arena),
            keys: compiler.envelopeKeys,
            names: names,
            suggestions: SuggestionTable(names, in: compiler.arena),
            events: compiler.arena.allocate(events),
            objects: compiler.arena.allocate(compiler.objects),
            properties: compiler.arena.allocate(compiler.properties.compactMap(\.self))
        )
        arena = compiler.arena
        definitions = compiler.definitions
        objectLocations = compiler.objectLocations
        patterns = compiler.patterns
        decimalLimits = definitions.indices.map { compiler.decimalLimits[$0] }
        allowedValues = compiler.allowedValues
    }
}
