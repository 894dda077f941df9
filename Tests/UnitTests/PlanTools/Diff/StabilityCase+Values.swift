import EventSchema
import PlanTools
import TestCases

extension StabilityCase {
    static let types: [StabilityCase] = [
        type(.integer, .number), type(.number, .integer), type(.integer, .decimal), type(.number, .decimal),
        type(.decimal, .number), type(.integer, .string), type(.string, .integer), type(.boolean, .string),
        type(.uuid, .string), type(.string, .uuid), type(.timestamp, .string), type(.string, .timestamp),
        type(.timestamp, .date), type(.array, .any), type(.any, .array), type(.object, .array), type(.string, .any),
    ]

    static let values: [StabilityCase] = [
        property("`enum` is added", .enumAdded, it(.string), size("s", "l")),
        property("`enum` is removed", .enumRemoved, size("s", "l"), it(.string)),
        property("a value is added to `enum`", .enumValueAdded, size("s", "l"), size("s", "m", "l")),
        property("a value is removed from `enum`", .enumValueRemoved, size("s", "m", "l"), size("s", "l")),
        property("the values of `enum` change places", .enumReordered, size("s", "l"), size("l", "s")),
        property(
            "a value of `enum` is the same decimal, written otherwise (`1.0` to `1`)",
            .swiftNameChanged,
            rate("1.0", "2"),
            rate("1", "2")
        ),
        property(
            "`minimum` rises, or is added",
            .limitTightened,
            it(.integer),
            it(.integer) { $0.minimum = .integer(1) }
        ),
        property("`maximum` falls, or is added", .limitTightened, maximum(10), maximum(9)),
        property("`minimum` falls, or `maximum` rises, or is removed", .limitLoosened, maximum(9), maximum(10)),
        property("`minLength` rises, or is added", .limitTightened, it(.string), it(.string) { $0.minLength = 1 }),
        property("`maxLength` falls, or is added", .limitTightened, it(.string), it(.string) { $0.maxLength = 9 }),
        property("a length is loosened, or removed", .limitLoosened, it(.string) { $0.maxLength = 9 }, it(.string)),
        property("`pattern` is added", .patternAdded, it(.string), pattern("^a")),
        property("`pattern` is removed", .patternRemoved, pattern("^a"), it(.string)),
        property("`pattern` changes", .patternChanged, pattern("^a"), pattern("^b")),
        property("`items` or `properties` are added", .shapeAdded, it(.array), list),
        property("`items` or `properties` are removed", .shapeRemoved, list, it(.array)),
    ]

    private static func type(_ old: PropertyType, _ new: PropertyType) -> StabilityCase {
        property("`\(old.rawValue)` becomes `\(new.rawValue)`", .typeChanged, it(old), it(new))
    }

    private static func size(_ values: String...) -> PropertyDefinition {
        it(.string) { $0.enumeration = values.map(PlanValue.string) }
    }

    private static func rate(_ values: String...) -> PropertyDefinition {
        it(.decimal) { $0.enumeration = values.map(PlanValue.string) }
    }

    private static func maximum(_ maximum: Int64) -> PropertyDefinition {
        it(.integer) { $0.maximum = .integer(maximum) }
    }

    private static func pattern(_ pattern: String) -> PropertyDefinition { it(.string) { $0.pattern = pattern } }

    private static let list = it(.array) {
        $0.items = PropertyDefinition(name: "", type: .integer, location: .line(5))
    }
}
