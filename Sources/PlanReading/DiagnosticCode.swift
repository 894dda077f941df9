/// The kinds of problems a tracking plan can have; the raw value is what is printed.
public enum DiagnosticCode: String, Sendable, Hashable, CaseIterable {
    // MARK: Files

    /// None of the paths holds a plan file.
    case noPlanFiles = "no-plan-files"
    /// A folder holds no plan file, though others do.
    case emptyFolder = "empty-folder"
    /// A file or folder cannot be opened or read.
    case unreadableFile = "unreadable-file"
    /// A file has more bytes or nodes than a plan can need.
    case fileTooLarge = "file-too-large"

    // MARK: Property lists

    /// The file is no property list; the place is the parser's.
    case malformedPlist = "malformed-plist"
    /// The document type declares something, entities for instance.
    case unsafeDoctype = "unsafe-doctype"
    /// The nodes are nested deeper than a plan can need.
    case tooDeep = "too-deep"
    /// A dictionary holds a key twice.
    case duplicateKey = "duplicate-key"
    /// A number or date does not say what its element promises.
    case malformedValue = "malformed-value"
    /// An integer does not fit in 64 bits.
    case integerOverflow = "integer-overflow"

    // MARK: Structure

    /// A dictionary lacks a key it must have.
    case missingKey = "missing-key"
    /// A dictionary holds a key that means nothing there.
    case unknownKey = "unknown-key"
    /// Two keys of a dictionary exclude each other.
    case conflictingKeys = "conflicting-keys"
    /// A key holds another kind of node than it should.
    case wrongNodeType = "wrong-node-type"
    /// A property's type is none of the types there are.
    case unknownType = "unknown-type"
    /// A name is empty, too long, or holds characters that nobody can see.
    case badName = "bad-name"
    /// A list names the same thing twice.
    case repeatedEntry = "repeated-entry"

    // MARK: Limits and values

    /// A limit or an enum stands at a type that it does not apply to.
    case misplacedKey = "misplaced-key"
    /// A limit is not of the property's type, or is negative where it counts something.
    case badLimit = "bad-limit"
    /// No value can satisfy the limits.
    case impossibleLimits = "impossible-limits"
    /// A pattern is no regular expression of RE2.
    case badPattern = "bad-pattern"
    /// An enum allows nothing.
    case emptyEnum = "empty-enum"
    /// An enum's value is not of the property's type.
    case enumOutsideType = "enum-outside-type"
    /// An enum's value is forbidden by the property's own limits.
    case enumOutsideLimits = "enum-outside-limits"
    /// An enum holds a value twice.
    case duplicateEnumValue = "duplicate-enum-value"
    /// An example would be rejected.
    case badExample = "bad-example"
    /// A property is deprecated, and yet every event must have it.
    case requiredAndDeprecated = "required-and-deprecated"

    // MARK: The whole plan

    /// The files hold no event.
    case noEvents = "no-events"
    /// Two files state different versions of the plan.
    case conflictingVersions = "conflicting-versions"
    /// Two events have the same name on the wire.
    case duplicateEvent = "duplicate-event"
    /// Two property groups have the same name.
    case duplicatePropertyGroup = "duplicate-property-group"
    /// An `include` names a property group that does not exist.
    case unknownPropertyGroup = "unknown-property-group"
    /// Property groups include each other in a circle.
    case propertyGroupCycle = "property-group-cycle"
    /// No event includes the property group.
    case unusedPropertyGroup = "unused-property-group"
    /// An event gets a property twice, from its payload and from property groups.
    case duplicateProperty = "duplicate-property"
    /// An event has more properties than a table has room for.
    case tooManyProperties = "too-many-properties"
    /// An event goes nowhere.
    case noTrackers = "no-trackers"
    /// A tracker is not among those that the plan declares.
    case unknownTracker = "unknown-tracker"
    /// The plan names more trackers than an event's mask has bits.
    case tooManyTrackers = "too-many-trackers"
    /// Two names become the same Swift name.
    case swiftNameCollision = "swift-name-collision"
    /// A property is of a type for which JustTrack's generated classes have no form.
    case noJustTrackForm = "no-justtrack-form"
    /// Two names become the same SQL table or column.
    case sqlNameCollision = "sql-name-collision"
    /// A property becomes a column that every table already has.
    case reservedColumn = "reserved-column"

    /// How bad a problem of this kind is.
    public var severity: Diagnostic.Severity {
        switch self {
        case .emptyFolder, .repeatedEntry, .badExample, .requiredAndDeprecated, .noEvents, .conflictingVersions,
            .unusedPropertyGroup:
            .warning
        default:
            .error
        }
    }
}
