/// The kinds of problems a tracking plan can have; the raw value is what is printed.
///
/// More may be added, so a `switch` over them needs a `default`.
public struct DiagnosticCode: Sendable, Hashable, RawRepresentable, CaseIterable, CustomStringConvertible {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case noPlanFiles = "no-plan-files"
        case emptyFolder = "empty-folder"
        case unreadableFile = "unreadable-file"
        case fileTooLarge = "file-too-large"
        case malformedPlist = "malformed-plist"
        case unsafeDoctype = "unsafe-doctype"
        case tooDeep = "too-deep"
        case duplicateKey = "duplicate-key"
        case malformedValue = "malformed-value"
        case integerOverflow = "integer-overflow"
        case missingKey = "missing-key"
        case unknownKey = "unknown-key"
        case conflictingKeys = "conflicting-keys"
        case wrongNodeType = "wrong-node-type"
        case unknownType = "unknown-type"
        case badName = "bad-name"
        case repeatedEntry = "repeated-entry"
        case misplacedKey = "misplaced-key"
        case badLimit = "bad-limit"
        case impossibleLimits = "impossible-limits"
        case badPattern = "bad-pattern"
        case emptyEnum = "empty-enum"
        case enumOutsideType = "enum-outside-type"
        case enumOutsideLimits = "enum-outside-limits"
        case duplicateEnumValue = "duplicate-enum-value"
        case badExample = "bad-example"
        case requiredAndDeprecated = "required-and-deprecated"
        case badSensitivity = "bad-sensitivity"
        case noEvents = "no-events"
        case conflictingVersions = "conflicting-versions"
        case duplicateEvent = "duplicate-event"
        case duplicateContextKey = "duplicate-context-key"
        case duplicatePropertyGroup = "duplicate-property-group"
        case unknownPropertyGroup = "unknown-property-group"
        case propertyGroupCycle = "property-group-cycle"
        case unusedPropertyGroup = "unused-property-group"
        case duplicateProperty = "duplicate-property"
        case tooManyProperties = "too-many-properties"
        case noTrackers = "no-trackers"
        case unknownTracker = "unknown-tracker"
        case similarTracker = "similar-tracker"
        case tooManyTrackers = "too-many-trackers"
        case swiftNameCollision = "swift-name-collision"
        case noJustTrackForm = "no-justtrack-form"
        case sqlNameCollision = "sql-name-collision"
        case reservedColumn = "reserved-column"
    }

    package let kind: Kind

    private init(_ kind: Kind) {
        self.kind = kind
    }

    /// The code of a printed text; `nil` if there is none.
    public init?(rawValue: String) {
        guard let kind = Kind(rawValue: rawValue) else { return nil }
        self.init(kind)
    }

    /// The code as it is printed, such as `duplicate-key`.
    public var rawValue: String { kind.rawValue }

    /// The code as it is printed.
    public var description: String { kind.rawValue }

    /// All codes.
    public static let allCases = Kind.allCases.map(DiagnosticCode.init(_:))

    // MARK: Files

    /// No path leads to a plan file.
    public static let noPlanFiles = Self(.noPlanFiles)
    /// A folder has no plan file, though other paths do.
    public static let emptyFolder = Self(.emptyFolder)
    /// A file or folder cannot be opened or read.
    public static let unreadableFile = Self(.unreadableFile)
    /// A file has too many bytes or nodes.
    public static let fileTooLarge = Self(.fileTooLarge)

    // MARK: Property lists

    /// The file is not a valid property list.
    public static let malformedPlist = Self(.malformedPlist)
    /// The document type has declarations, of entities for instance.
    public static let unsafeDoctype = Self(.unsafeDoctype)
    /// The nodes are nested too deeply.
    public static let tooDeep = Self(.tooDeep)
    /// A dictionary has a key twice.
    public static let duplicateKey = Self(.duplicateKey)
    /// The text of a number or date does not fit its element.
    public static let malformedValue = Self(.malformedValue)
    /// An integer does not fit in 64 bits.
    public static let integerOverflow = Self(.integerOverflow)

    // MARK: Structure

    /// A dictionary lacks a required key.
    public static let missingKey = Self(.missingKey)
    /// A dictionary has an unknown key.
    public static let unknownKey = Self(.unknownKey)
    /// Two keys of a dictionary exclude each other.
    public static let conflictingKeys = Self(.conflictingKeys)
    /// A key has a value of the wrong kind.
    public static let wrongNodeType = Self(.wrongNodeType)
    /// A property has an unknown type.
    public static let unknownType = Self(.unknownType)
    /// A name is empty, too long, reserved, or has invisible characters.
    public static let badName = Self(.badName)
    /// A list has an entry twice.
    public static let repeatedEntry = Self(.repeatedEntry)

    // MARK: Limits and values

    /// A limit or an enum does not apply to the property's type.
    public static let misplacedKey = Self(.misplacedKey)
    /// A limit does not have the property's type, or is a negative length.
    public static let badLimit = Self(.badLimit)
    /// No value can satisfy the limits.
    public static let impossibleLimits = Self(.impossibleLimits)
    /// A pattern is not a valid regular expression of RE2.
    public static let badPattern = Self(.badPattern)
    /// An enum is empty.
    public static let emptyEnum = Self(.emptyEnum)
    /// A value of an enum does not have the property's type.
    public static let enumOutsideType = Self(.enumOutsideType)
    /// A value of an enum violates the property's own limits.
    public static let enumOutsideLimits = Self(.enumOutsideLimits)
    /// An enum has a value twice.
    public static let duplicateEnumValue = Self(.duplicateEnumValue)
    /// An example would be rejected.
    public static let badExample = Self(.badExample)
    /// A property is both deprecated and required.
    public static let requiredAndDeprecated = Self(.requiredAndDeprecated)
    /// `sensitive` has an unknown value, or lists no trackers.
    public static let badSensitivity = Self(.badSensitivity)

    // MARK: The whole plan

    /// The files define no event.
    public static let noEvents = Self(.noEvents)
    /// Two files state different versions of the plan.
    public static let conflictingVersions = Self(.conflictingVersions)
    /// Two events have the same name on the wire.
    public static let duplicateEvent = Self(.duplicateEvent)
    /// Two files protect the same key of the context.
    public static let duplicateContextKey = Self(.duplicateContextKey)
    /// Two property groups have the same name.
    public static let duplicatePropertyGroup = Self(.duplicatePropertyGroup)
    /// An `include` names a property group that does not exist.
    public static let unknownPropertyGroup = Self(.unknownPropertyGroup)
    /// Property groups include each other in a cycle.
    public static let propertyGroupCycle = Self(.propertyGroupCycle)
    /// A property group is never included.
    public static let unusedPropertyGroup = Self(.unusedPropertyGroup)
    /// An event gets a property twice, from its payload and from property groups.
    public static let duplicateProperty = Self(.duplicateProperty)
    /// An event has too many properties.
    public static let tooManyProperties = Self(.tooManyProperties)
    /// An event has no trackers.
    public static let noTrackers = Self(.noTrackers)
    /// A tracker is not declared in `trackers`.
    public static let unknownTracker = Self(.unknownTracker)
    /// A tracker's name is almost that of a well-known tracker, and is not declared in `trackers`.
    public static let similarTracker = Self(.similarTracker)
    /// The plan names more than 64 trackers.
    public static let tooManyTrackers = Self(.tooManyTrackers)
    /// Two names become the same Swift name.
    public static let swiftNameCollision = Self(.swiftNameCollision)
    /// JustTrack's style of generated code does not support the type of a property.
    public static let noJustTrackForm = Self(.noJustTrackForm)
    /// Two names become the same SQL table or column.
    public static let sqlNameCollision = Self(.sqlNameCollision)
    /// A property collides with a column that every table has.
    public static let reservedColumn = Self(.reservedColumn)

    /// The severity of problems of this kind.
    package var severity: Diagnostic.Severity {
        switch kind {
        case .emptyFolder, .repeatedEntry, .badExample, .requiredAndDeprecated, .noEvents, .conflictingVersions,
            .unusedPropertyGroup, .similarTracker:
            .warning
        default:
            .error
        }
    }
}
