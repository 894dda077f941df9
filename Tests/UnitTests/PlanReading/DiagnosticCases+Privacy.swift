import PlanReading
import TestCases

extension DiagnosticCase {
    static let privacy: [DiagnosticCase] = [
        .init(
            .badSensitivity,
            "unknown sensitivity 'hashed'; did you mean 'hash'?",
            .property("<key>type</key><string>string</string> <key>sensitive</key> 👉<string>hashed</string>")
        ),
        .init(
            .badSensitivity,
            "unknown sensitivity 'secret'; use 'drop', 'hash', or a dictionary with the array 'trackers'",
            .property("<key>type</key><string>string</string> <key>sensitive</key> 👉<string>secret</string>")
        ),
        .init(
            .badSensitivity,
            "'sensitive' has no trackers; list those that may see the value, or use 'drop'",
            .property("<key>type</key><string>any</string> <key>sensitive</key> 👉<dict/>")
        ),
        .init(
            .wrongNodeType,
            "'sensitive' must be 'drop', 'hash', or a dictionary with 'trackers', not a boolean",
            .property("<key>type</key><string>any</string> <key>sensitive</key> 👉<true/>")
        ),
        .init(
            .misplacedKey,
            "only a string can be hashed; the type here is integer",
            .property("<key>type</key><string>integer</string> <key>sensitive</key> 👉<string>hash</string>")
        ),
        .init(
            .unknownTracker,
            "unknown tracker 'postgers'; the plan's events have console",
            .property(
                """
                <key>type</key><string>string</string> <key>sensitive</key>
                <dict><key>trackers</key> <array>👉<string>postgers</string></array></dict>
                """
            )
        ),
        .init(
            .unknownKey,
            "unknown key 'sensitive' in 'items'; 'items' has type, nullable, swiftName, swiftCases, description, enum, minimum, "
                + "maximum, minLength, maxLength, pattern, items, properties, examples",
            .property(
                """
                <key>type</key><string>array</string> <key>items</key>
                <dict><key>type</key><string>string</string>👉<key>sensitive</key><string>drop</string></dict>
                """
            )
        ),
        .init(
            .missingKey,
            "a key of 'context' needs 'sensitive': 'drop', 'hash', or its trackers",
            context("👉<key>ip</key> <dict/>")
        ),
        .init(
            .unknownKey,
            "unknown key 'senstive' in a key of 'context'; did you mean 'sensitive'?",
            context("<key>ip</key> <dict><key>sensitive</key><string>drop</string>👉<key>senstive</key><true/></dict>")
        ),
    ]

    private static func context(_ nodes: String) -> PlanFixture {
        .root(
            """
            <key>context</key> <dict>\(nodes)</dict>
            <key>events</key> <dict><key>e</key> <dict>
            <key>registeredTrackers</key> <array><string>console</string></array></dict></dict>
            """
        )
    }
}
