import EventModel
import EventSchema
import PlanReading

/// The conditions in the table of judgements, which decide whom a change breaks.
struct Circumstances: OptionSet, Sendable, Hashable {
    let rawValue: UInt32

    // MARK: Who gets the event

    /// The event has a table, before and after the change.
    static let hasRows = Circumstances(rawValue: 1 << 0)
    /// The event's canonical lines have readers, before and after the change.
    static let hasReaders = Circumstances(rawValue: 1 << 1)
    /// The tracker that was added or removed writes to tables.
    static let isTableTracker = Circumstances(rawValue: 1 << 2)
    /// The tracker that was added or removed passes canonical lines to readers.
    static let isLineTracker = Circumstances(rawValue: 1 << 3)

    // MARK: What changes

    /// The change is about the event itself, or about the order of its payload.
    static let isEvent = Circumstances(rawValue: 1 << 4)
    /// The change is about a property of the payload, which has a column; a nested property is a key in a `jsonb`.
    static let isColumn = Circumstances(rawValue: 1 << 5)

    // MARK: Names

    /// The key stays.
    static let keepsKey = Circumstances(rawValue: 1 << 6)
    /// Generated Swift uses the same name as before.
    static let keepsSwiftName = Circumstances(rawValue: 1 << 7)
    /// Both names become the same table.
    static let keepsTable = Circumstances(rawValue: 1 << 8)

    // MARK: Properties before and after

    /// The payload allowed additional properties.
    static let wasOpen = Circumstances(rawValue: 1 << 9)
    /// The payload allows additional properties.
    static let isOpen = Circumstances(rawValue: 1 << 10)
    /// The property was required.
    static let wasRequired = Circumstances(rawValue: 1 << 11)
    /// The property is required.
    static let isRequired = Circumstances(rawValue: 1 << 12)
    /// The property could be null.
    static let wasNullable = Circumstances(rawValue: 1 << 13)
    /// The property can be null.
    static let isNullable = Circumstances(rawValue: 1 << 14)

    // MARK: Values

    /// See `TypeChange.takesAllOldValues`.
    static let takesAllOldValues = Circumstances(rawValue: 1 << 15)
    /// See `TypeChange.takesMostOldValues`.
    static let takesMostOldValues = Circumstances(rawValue: 1 << 16)
    /// See `TypeChange.keepsColumnType`.
    static let keepsColumnType = Circumstances(rawValue: 1 << 17)
    /// See `TypeChange.yieldsOldValuesOnly`.
    static let yieldsOldValuesOnly = Circumstances(rawValue: 1 << 18)
    /// See `TypeChange.yieldsOldValuesToo`.
    static let yieldsOldValuesToo = Circumstances(rawValue: 1 << 19)
    /// `minLength` rose, or was added.
    static let minLengthRose = Circumstances(rawValue: 1 << 20)
    /// `maxLength` fell, or was added.
    static let maxLengthFell = Circumstances(rawValue: 1 << 21)

    // MARK: Privacy

    /// Tables get less of the value than before.
    static let tablesLoseValue = Circumstances(rawValue: 1 << 22)
    /// Tables get more of the value than before.
    static let tablesGainValue = Circumstances(rawValue: 1 << 23)
    /// Readers get less of the value than before.
    static let readersLoseValue = Circumstances(rawValue: 1 << 24)
    /// Readers get more of the value than before.
    static let readersGainValue = Circumstances(rawValue: 1 << 25)

    /// The given circumstances that hold.
    fileprivate init(_ candidates: [(Circumstances, Bool)]) {
        self = candidates.reduce(into: []) { if $1.1 { $0.insert($1.0) } }
    }

    init(rawValue: UInt32) {
        self.rawValue = rawValue
    }
}

extension EventDifference {
    var circumstances: Circumstances {
        Circumstances(routesFrom: old, to: new).union(
            Circumstances([
                (.isEvent, true),
                (.isTableTracker, tracker.map { old.fillsTable($0) || new.fillsTable($0) } ?? false),
                (.isLineTracker, tracker.map { old.passesLines(to: $0) && new.passesLines(to: $0) } ?? false),
                (.keepsKey, ExactText(old.key) == ExactText(new.key)),
                (.keepsSwiftName, old.swiftTypeName == new.swiftTypeName),
                (.keepsTable, ExactText(SQLName.snakeCase(old.name)) == ExactText(SQLName.snakeCase(new.name))),
            ])
        )
    }
}

extension PropertyDifference {
    /// The circumstances of the difference in an event, which is given as it was and as it is.
    func circumstances(from oldEvent: EventDefinition, to newEvent: EventDefinition) -> Circumstances {
        let type = TypeChange(from: old.type, to: new.type)
        let sensitivity = SensitivityChange(old: old.sensitivity, new: new.sensitivity)
        return Circumstances(of: sensitivity, from: [oldEvent], to: [newEvent]).union(
            Circumstances([
                (.isEvent, path.depth == 0), (.isColumn, path.hasColumn),
                (.keepsSwiftName, SwiftNameComparison.ownNames(from: old, to: new).isEmpty),
                // Only the payload can be open; nested objects are not.
                (.wasOpen, path.hasColumn && oldEvent.allowsAdditionalProperties),
                (.isOpen, path.hasColumn && newEvent.allowsAdditionalProperties),
                (.wasRequired, old.isRequired), (.isRequired, new.isRequired),
                (.wasNullable, old.isNullable), (.isNullable, new.isNullable),
                (.takesAllOldValues, type.takesAllOldValues), (.takesMostOldValues, type.takesMostOldValues),
                (.keepsColumnType, type.keepsColumnType),
                (.yieldsOldValuesOnly, type.yieldsOldValuesOnly), (.yieldsOldValuesToo, type.yieldsOldValuesToo),
                (.minLengthRose, new.minLength ?? 0 > old.minLength ?? 0),
                (.maxLengthFell, new.maxLength ?? .max < old.maxLength ?? .max),
            ])
        )
    }
}

extension Circumstances {
    fileprivate init(routesFrom old: EventDefinition, to new: EventDefinition) {
        self.init([
            (.hasRows, old.hasTable && new.hasTable),
            (.hasReaders, [old, new].allSatisfy { event in event.trackers.contains(where: event.passesLines) }),
        ])
    }

    /// The circumstances of another protection of a value in these events.
    init(of change: SensitivityChange, from old: [EventDefinition], to new: [EventDefinition]) {
        let (oldTables, oldReaders) = Self.audiences(of: old)
        let (newTables, newReaders) = Self.audiences(of: new)
        let (tables, readers) = (oldTables.filter(newTables.contains), oldReaders.filter(newReaders.contains))
        self.init([
            (.hasRows, !oldTables.isEmpty && !newTables.isEmpty),
            (.hasReaders, !oldReaders.isEmpty && !newReaders.isEmpty),
            (.tablesLoseValue, change.takes(fromOneOf: tables)), (.tablesGainValue, change.gives(toOneOf: tables)),
            (.readersLoseValue, change.takes(fromOneOf: readers)), (.readersGainValue, change.gives(toOneOf: readers)),
        ])
    }

    /// The trackers of events that fill tables, and those that pass on lines, in lower case.
    private static func audiences(of events: [EventDefinition]) -> (tables: [String], readers: [String]) {
        var (tables, readers): (Set<String>, Set<String>) = ([], [])
        for event in events {
            tables.formUnion(event.trackers.filter(event.fillsTable).map { $0.lowercased() })
            readers.formUnion(event.trackers.filter(event.passesLines).map { $0.lowercased() })
        }
        return (tables.sorted(), readers.sorted())
    }
}

extension EventDefinition {
    /// Whether programs may read the lines that a tracker gets; the console prints for people.
    fileprivate func passesLines(to tracker: String) -> Bool {
        !fillsTable(tracker) && tracker.lowercased() != WellKnownTracker.console
    }
}
