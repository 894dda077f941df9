import EventSchema
import PlanReading
import TestCases

/// A plan with one mistake, marked at its position, and the expected message.
struct DiagnosticCase: CustomStringConvertible, Sendable {
    let code: DiagnosticCode
    let sentence: String
    let fixture: PlanFixture

    init(_ code: DiagnosticCode, _ sentence: String, _ fixture: PlanFixture) {
        self.code = code
        self.sentence = sentence
        self.fixture = fixture
    }

    var description: String { "\(code.rawValue): \(sentence)" }
}

extension DiagnosticCase {
    static let plist: [DiagnosticCase] = [
        .init(
            .malformedPlist,
            "not a property list; it must be an XML plist in UTF-8, or a binary one",
            PlanFixture("👉{ \"events\": {} }")
        ),
        .init(
            .malformedPlist,
            "not a property list; the root element is <html>, not <plist>",
            PlanFixture("<?xml version=\"1.0\"?>\n 👉<html/>")
        ),
        .init(
            .malformedPlist,
            "a property list must not have processing instructions; remove '<?…?>'",
            PlanFixture("<?xml version='1.0'?><!-- <?a?> --><plist>👉<?b?><dict/></plist>")
        ),
        .init(
            .malformedPlist,
            "a property list must not have processing instructions; remove '<?…?>'",
            PlanFixture("👉<?xml?><plist><dict/></plist>")
        ),
        .init(
            .malformedPlist,
            "not a property list; a comment contains '--', which XML does not allow; write the line in it with other characters",
            PlanFixture("<plist><!-- 👉---- --><dict/></plist>")
        ),
        .init(.malformedPlist, "the property list is empty", PlanFixture("<!-- <plist> -->\n👉<plist>\n</plist>")),
        .init(
            .malformedPlist,
            "a property list has one root; put everything into its <dict>",
            PlanFixture("<plist><dict><key>events</key><dict/></dict>👉<dict/></plist>")
        ),
        .init(
            .malformedPlist,
            "unknown element <sting>; did you mean <string>?",
            .event("<key>owner</key> 👉<sting>checkout</sting>")
        ),
        .init(.malformedPlist, "the key 'owner' has no value", .event("👉<key>owner</key>")),
        .init(
            .malformedPlist,
            "the key 'owner' has no value",
            .event("👉<key>owner</key> <key>description</key> <string>d</string>")
        ),
        .init(.malformedPlist, "a value in a <dict> needs a <key> before it", .event("👉<string>checkout</string>")),
        .init(
            .malformedPlist,
            "<string> must not contain elements",
            .event("<key>owner</key> <string>check👉<true/>out</string>")
        ),
        .init(
            .malformedPlist,
            "<array> contains the stray text 'console'",
            .event("<key>include</key> 👉<array>console</array>")
        ),
        .init(
            .unsafeDoctype,
            "the document type must not declare anything; remove everything between '[' and ']'",
            PlanFixture("<!DOCTYPE plist SYSTEM \"[\" 👉[<!ENTITY a \"b\">]>\n<plist><dict/></plist>")
        ),
        .init(
            .duplicateKey,
            "the key 'owner' is already defined on line 8",
            .event("<key>owner</key> <string>a</string>\n👉<key>owner</key> <string>b</string>")
        ),
        .init(
            .malformedValue,
            "'12.5' is not an integer; write decimal digits",
            .property("<key>type</key> <string>string</string> <key>minLength</key> 👉<integer> 12.5\n</integer>")
        ),
        .init(
            .malformedValue,
            "'nan' is not a finite decimal number",
            .property("<key>type</key> <string>number</string> <key>minimum</key> 👉<real>nan</real>")
        ),
        .init(
            .malformedValue,
            "'1e999' is not a finite decimal number",
            .property("<key>type</key> <string>number</string> <key>minimum</key> 👉<real>1e999</real>")
        ),
        .init(
            .malformedValue,
            "'yesterday' is not a date; write it like 2026-01-31T12:00:00Z",
            .property(
                """
                <key>type</key> <string>timestamp</string>
                <key>examples</key> <array>👉<date>yesterday</date></array>
                """
            )
        ),
        .init(
            .integerOverflow,
            "'9223372036854775808' does not fit in a 64-bit integer",
            .property(
                """
                <key>type</key> <string>integer</string>
                <key>maximum</key> 👉<integer>9223372036854775808</integer>
                """
            )
        ),
    ]

    static let structure: [DiagnosticCase] = [
        .init(
            .missingKey,
            "a plan file needs 'events', a dictionary of event definitions",
            PlanFixture("<plist>\n\t👉<dict/></plist>")
        ),
        .init(
            .missingKey,
            "a property needs a 'type'; types are string, integer, number, decimal, boolean, timestamp, date, uuid, "
                + "array, object, any",
            .payload("👉<key>p</key> <dict/>")
        ),
        .init(
            .missingKey,
            "a payload object needs 'objectPayloadKeys'",
            .event(
                "<key>payloadKeys</key> <array>👉<dict><key>name</key><string>items</string></dict></array>"
            )
        ),
        .init(
            .unknownKey,
            "unknown key 'event' in a plan file; did you mean 'events'?",
            .root("<key>events</key><dict/>\n👉<key>event</key> <dict/>")
        ),
        .init(
            .unknownKey,
            "unknown key 'registredTrackers' in an event; did you mean 'registeredTrackers'?",
            .event("👉<key>registredTrackers</key> <array/>")
        ),
        .init(
            .unknownKey,
            "unknown key 'requried' in a property; did you mean 'required'?",
            .property("<key>type</key><string>any</string> 👉<key>requried</key> <false/>")
        ),
        .init(
            .unknownKey,
            "unknown key 'required' in 'items'; 'items' has type, nullable, swiftName, swiftCases, description, "
                + "enum, minimum, maximum, minLength, maxLength, pattern, items, properties, examples",
            .property(
                """
                <key>type</key><string>array</string>
                <key>items</key> <dict><key>type</key><string>any</string>👉<key>required</key><true/></dict>
                """
            )
        ),
        .init(
            .conflictingKeys,
            "an event has either 'payload' or JustTrack's 'payloadKeys', not both",
            .event("👉<key>payloadKeys</key> <array/> <key>payload</key> <dict/>")
        ),
        .init(
            .wrongNodeType,
            "a plan file must be a dictionary, not an array",
            PlanFixture("<plist>👉<array/></plist>")
        ),
        .init(.wrongNodeType, "'events' must be a dictionary, not an array", .root("<key>events</key> 👉<array/>")),
        .init(
            .wrongNodeType,
            "an event must be a dictionary, not a string",
            .root("<key>events</key> <dict><key>e</key> 👉<string/></dict>")
        ),
        .init(
            .wrongNodeType,
            "'required' must be <true/> or <false/>, not an integer",
            .property("<key>type</key><string>any</string> <key>required</key> 👉<integer>1</integer>")
        ),
        .init(
            .wrongNodeType,
            "'minLength' must be an integer, not a boolean",
            .property("<key>type</key><string>string</string> <key>minLength</key> 👉<true/>")
        ),
        .init(
            .wrongNodeType,
            "a property must be a type's name or a dictionary, not a boolean",
            .payload("<key>p</key> 👉<true/>")
        ),
        .init(
            .wrongNodeType,
            "a payload key must be a string or a dictionary, not a date",
            .event("<key>payloadKeys</key> <array>👉<date>2026-01-31T12:00:00Z</date></array>")
        ),
        .init(
            .wrongNodeType,
            "a name in 'include' must be a string, not data",
            .event("<key>include</key> <array>👉<data>AQ==</data></array>")
        ),
        .init(
            .unknownType,
            "unknown type 'strng'; did you mean 'string'?",
            .payload("<key>größe</key> 👉<string>strng</string>")
        ),
        .init(
            .unknownType,
            "unknown type 'Double'; did you mean 'number'?",
            .property("<key>type</key> 👉<string>Double</string>")
        ),
        .init(.badName, "the name '' is empty", .payload("👉<key></key> <string>any</string>")),
        .init(
            .badName,
            "the owner is empty; name the team that is responsible for the event",
            .event("<key>owner</key> 👉<string> \n</string>")
        ),
        .init(
            .badName,
            "the name 'a\\u{7f}b' contains a control character",
            .payload("👉<key>a&#127;b</key> <string>any</string>")
        ),
        .init(
            .badName,
            "the name 'Paid ' begins or ends with white space",
            .event("<key>name</key> 👉<string>Paid </string>")
        ),
        .init(
            .badName,
            "the name '\(String(repeating: "n", count: 80))…' is longer than 255 bytes",
            .event("<key>name</key> 👉<string>\(String(repeating: "n", count: 256))</string>")
        ),
        .init(
            .repeatedEntry,
            "'Console' is already in this list; remove it",
            .root(
                """
                <key>events</key> <dict><key>e</key> <dict>
                <key>registeredTrackers</key>
                <array><string>console</string>👉<string>Console</string></array></dict></dict>
                """
            )
        ),
    ]
}
