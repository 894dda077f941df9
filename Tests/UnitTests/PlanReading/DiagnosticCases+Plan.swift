import PlanReading
import TestCases

extension DiagnosticCase {
    static let values: [DiagnosticCase] = [
        .init(
            .misplacedKey,
            "'minimum' applies only to type integer, number or decimal; the type here is string",
            .property("<key>type</key><string>string</string> 👉<key>minimum</key> <integer>1</integer>")
        ),
        .init(
            .misplacedKey,
            "'pattern' applies only to type string; the type here is uuid",
            .property("<key>type</key><string>uuid</string> 👉<key>pattern</key> <string>a</string>")
        ),
        .init(
            .misplacedKey,
            "'items' applies only to type array; the type here is object",
            .property("<key>type</key><string>object</string> 👉<key>items</key> <string>any</string>")
        ),
        .init(
            .misplacedKey,
            "'swiftCases' needs an 'enum'",
            .property(
                """
                <key>type</key><string>string</string>
                👉<key>swiftCases</key> <dict><key>a</key><string>b</string></dict>
                """
            )
        ),
        .init(
            .duplicateEnumValue,
            "the value is already in this 'enum', written with other code points; remove one of them",
            .property(
                """
                <key>type</key><string>string</string> <key>enum</key>
                <array><string>caf\u{E9}</string>👉<string>cafe\u{301}</string></array>
                """
            )
        ),
        .init(
            .badLimit,
            "'minimum' must be an integer",
            .property("<key>type</key><string>integer</string> <key>minimum</key> 👉<real>0.5</real>")
        ),
        .init(
            .badLimit,
            "'maximum' must be a number",
            .property("<key>type</key><string>number</string> <key>maximum</key> 👉<true/>")
        ),
        .init(
            .badLimit,
            "'maximum' must be a decimal; write it as a string",
            .property("<key>type</key><string>decimal</string> <key>maximum</key> 👉<real>0.12345678901234567</real>")
        ),
        .init(
            .badLimit,
            "'maxLength' is a number of characters and cannot be negative",
            .property("<key>type</key><string>string</string> <key>maxLength</key> 👉<integer>-1</integer>")
        ),
        .init(
            .impossibleLimits,
            "no value can satisfy the limits: 'maximum' is less than 'minimum'",
            .property(
                """
                <key>type</key><string>decimal</string> <key>minimum</key> <string>2.5</string>
                <key>maximum</key> 👉<string>2.49999999999999999999</string>
                """
            )
        ),
        .init(
            .impossibleLimits,
            "no value can satisfy the limits: 'maxLength' is less than 'minLength'",
            .property(
                """
                <key>type</key><string>string</string> <key>minLength</key> <integer>3</integer>
                <key>maxLength</key> 👉<integer>2</integer>
                """
            )
        ),
        .init(
            .badPattern,
            "the pattern is not a valid regular expression (RE2 syntax): 'missing ): (abc'",
            .property("<key>type</key><string>string</string> <key>pattern</key> 👉<string>(abc</string>")
        ),
        .init(
            .misplacedKey,
            "'enum' applies only to type string, integer, number, decimal, boolean, timestamp, date or uuid; "
                + "the type here is object",
            .property(
                """
                <key>type</key><string>object</string>
                👉<key>enum</key> <array><dict><key>a</key><integer>1</integer></dict></array>
                """
            )
        ),
        .init(
            .misplacedKey,
            "'enum' applies only to type string, integer, number, decimal, boolean, timestamp, date or uuid; "
                + "the type here is any",
            .property("<key>type</key><string>any</string> 👉<key>enum</key> <array><integer>1</integer></array>")
        ),
        .init(
            .misplacedKey,
            "'enum' applies only to type string, integer, number, decimal, boolean, timestamp, date or uuid; "
                + "the type here is array",
            .property("<key>type</key><string>array</string> 👉<key>enum</key> <array><array/></array>")
        ),
        .init(
            .emptyEnum,
            "'enum' is empty; list the allowed values, or remove it",
            .property("<key>type</key><string>string</string> <key>enum</key> 👉<array/>")
        ),
        .init(
            .enumOutsideType,
            "the value does not have the type integer, so it can never be sent",
            .property(
                """
                <key>type</key><string>integer</string>
                <key>enum</key> <array><integer>0</integer><real>1.0</real>👉<true/></array>
                """
            )
        ),
        .init(
            .enumOutsideType,
            "the value does not have the type boolean, so it can never be sent",
            .property(
                "<key>type</key><string>boolean</string> <key>enum</key> <array>👉<integer>1</integer></array>"
            )
        ),
        .init(
            .enumOutsideLimits,
            "the value violates the property's own limits; change the value or the limits",
            .property(
                """
                <key>type</key><string>string</string> <key>maxLength</key> <integer>2</integer>
                <key>enum</key> <array><string>éé</string>👉<string>abc</string></array>
                """
            )
        ),
        .init(
            .duplicateEnumValue,
            "the value is already in this 'enum'; remove it",
            .property(
                """
                <key>type</key><string>decimal</string>
                <key>enum</key> <array><string>2.5</string>👉<string>2.50</string></array>
                """
            )
        ),
        .init(
            .badExample,
            "the example would be rejected because of the property's type, limits or 'enum'; correct it",
            .property(
                """
                <key>type</key><string>string</string> <key>enum</key> <array><string>a</string></array>
                <key>examples</key> <array><string>a</string>👉<string>b</string></array>
                """
            )
        ),
        .init(
            .requiredAndDeprecated,
            "the property is deprecated but required; add 'required' with <false/>",
            .property("<key>type</key><string>any</string> 👉<key>deprecated</key> <string>use q</string>")
        ),
    ]

    private static let trackers = "<key>registeredTrackers</key> <array><string>console</string></array>"

    private static func events(_ nodes: String, before: String = "") -> PlanFixture {
        .root("\(before)<key>events</key>\n<dict>\n\(nodes)\n</dict>")
    }

    /// A name of the maximum length of a column's name.
    private static let long = String(repeating: "n", count: 63)

    static let plan: [DiagnosticCase] = [
        .init(
            .noEvents,
            "the plan has no events; add one to 'events'",
            PlanFixture("<plist>👉<dict><key>events</key><dict/></dict></plist>")
        ),
        .init(
            .duplicateEvent,
            "the event 'a' is already defined at plan.plist:5:1; rename one",
            events(
                """
                <key>a</key> <dict>\(trackers)</dict>
                <key>b</key> <dict>\(trackers)<key>name</key> 👉<string>a</string></dict>
                """
            )
        ),
        .init(
            .swiftNameCollision,
            "the event collides with 'Item Sold' at plan.plist:5:1: both become the Swift type 'ItemSold'; rename one, "
                + "or give it a 'swiftName'",
            events(
                """
                <key>Item Sold</key> <dict>\(trackers)</dict>
                👉<key>item_sold</key> <dict>\(trackers)<key>name</key> <string>sold</string></dict>
                """
            )
        ),
        .init(
            .swiftNameCollision,
            "the property collides with 'unit price' at plan.plist:13:1: both become the Swift property 'unitPrice'; rename "
                + "one, or give it a 'swiftName'",
            .property(
                """
                <key>type</key><string>object</string> <key>properties</key><dict>
                <key>unit price</key> <string>any</string>
                👉<key>unitPrice</key> <string>any</string></dict>
                """
            )
        ),
        .init(
            .sqlNameCollision,
            "the event collides with 'itemSold' at plan.plist:5:35: both become the table 'item_sold'; rename one",
            events(
                """
                <key>a</key><dict><key>name</key> <string>itemSold</string>\(trackers)</dict>
                <key>b</key><dict><key>name</key> 👉<string>Item Sold</string>\(trackers)</dict>
                """
            )
        ),
        .init(
            .sqlNameCollision,
            "the property collides with 'itemURL' at plan.plist:10:1: both become the column 'item_url'; rename one",
            .payload(
                "<key>itemURL</key><string>any</string>\n👉<key>itemUrl</key><string>any</string>",
                tracker: "postgres"
            )
        ),
        .init(
            .sqlNameCollision,
            "the property collides with '\(long)1' at plan.plist:10:1: both become the column '\(long)'; rename one",
            .payload(
                "<key>\(long)1</key><string>any</string>\n👉<key>\(long)2</key><string>any</string>",
                tracker: "postgres"
            )
        ),
        .init(
            .reservedColumn,
            "the property collides with the column 'extra', which holds the event's additional properties; rename it",
            .event(
                """
                <key>additionalProperties</key><true/>
                <key>payload</key><dict>👉<key>extra</key> <string>any</string></dict>
                """,
                tracker: "postgres"
            )
        ),
        .init(
            .reservedColumn,
            "the property collides with the column 'user_id', which every table has; rename it",
            .payload("👉<key>userId</key> <string>string</string>", tracker: "Postgres")
        ),
        .init(
            .reservedColumn,
            "the property collides with the column 'xmin', which every table has; rename it",
            .payload("👉<key>xmin</key> <string>string</string>", tracker: "postgres")
        ),
        .init(
            .noTrackers,
            "the event has no trackers; list them in 'registeredTrackers'",
            events("👉<key>a</key> <dict/>")
        ),
        .init(
            .noTrackers,
            "the event has no trackers; list them in 'registeredTrackers'",
            events("<key>a</key> <dict><key>registeredTrackers</key> 👉<array/></dict>")
        ),
        .init(
            .unknownTracker,
            "unknown tracker 'postgress'; did you mean 'Postgres'?",
            events(
                """
                <key>a</key> <dict><key>registeredTrackers</key>
                <array><string>postgres</string>👉<string>postgress</string></array></dict>
                """,
                before: "<key>trackers</key><array><string>Postgres</string></array>"
            )
        ),
        .init(
            .similarTracker,
            "the tracker 'postgress' is not a built-in one; did you mean 'postgres'? If not, list all trackers in 'trackers'",
            events(
                """
                <key>a</key> <dict><key>registeredTrackers</key>
                <array><string>postgres</string>👉<string>postgress</string></array></dict>
                """
            )
        ),
        .init(
            .tooManyTrackers,
            "the plan names more than 64 trackers; remove some",
            events(
                "<key>a</key> <dict>\(trackers)</dict>",
                before: "<key>trackers</key><array><string>console</string>"
                    + (1...63).map { "<string>t\($0)</string>" }.joined()
                    + "👉<string>t64</string><string>t65</string></array>"
            )
        ),
        .init(
            .tooManyProperties,
            "the event 'a' has 1001 properties, but at most 1000 are allowed",
            events(
                "👉<key>a</key> <dict>\(trackers)<key>payload</key><dict>"
                    + (1...1001).map { "<key>p\($0)</key><string>any</string>" }.joined() + "</dict></dict>"
            )
        ),
    ]

    private static func groups(_ nodes: String, include: String) -> PlanFixture {
        events(
            """
            <key>e</key> <dict>\(trackers)
            <key>include</key> <array>\(include)</array>
            <key>payload</key> <dict><key>own</key><string>any</string></dict></dict>
            """,
            before: "<key>propertyGroups</key>\n<dict>\n\(nodes)\n</dict>\n"
        )
    }

    private static let money = "<key>money</key> <dict><key>amount</key><string>decimal</string></dict>"

    static let groups: [DiagnosticCase] = [
        .init(
            .unknownPropertyGroup,
            "unknown property group 'mony'; did you mean 'money'?",
            groups(money, include: "<string>money</string>👉<string>mony</string>")
        ),
        .init(
            .unknownPropertyGroup,
            "unknown property group 'money'; the plan has none",
            .event("<key>include</key> <array>👉<string>money</string></array>")
        ),
        .init(
            .propertyGroupCycle,
            "property groups include each other: 'a' → 'b' → 'a'; remove one 'include'",
            groups(
                """
                <key>a</key><dict><key>include</key><array><string>b</string></array></dict>
                <key>b</key><dict><key>include</key><array>👉<string>a</string></array></dict>
                """,
                include: "<string>a</string>"
            )
        ),
        .init(
            .propertyGroupCycle,
            "property groups include each other: 'a' → 'a'; remove one 'include'",
            groups(
                "<key>a</key><dict><key>include</key><array>👉<string>a</string></array></dict>",
                include: "<string>a</string>"
            )
        ),
        .init(
            .unusedPropertyGroup,
            "the property group 'spare' is never included; include it, or remove it",
            groups(money + "\n👉<key>spare</key> <dict/>", include: "<string>money</string>")
        ),
        .init(
            .duplicateProperty,
            "the property 'own' is defined twice, in the group 'a' and in the payload; remove one of them",
            groups("<key>a</key><dict><key>own</key><string>any</string></dict>", include: "👉<string>a</string>")
        ),
        .init(
            .duplicateProperty,
            "the property 'amount' is defined twice, in the group 'price' and in the group 'money'; remove one of them",
            groups(
                money + "<key>price</key> <dict><key>amount</key><string>decimal</string></dict>",
                include: "<string>money</string>👉<string>price</string>"
            )
        ),
    ]
}
