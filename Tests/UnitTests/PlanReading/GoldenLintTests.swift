import PlanReading
import Testing

@Suite("The output of sluice lint")
struct GoldenLintTests {
    private static let file = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<key>trackers</key>
        \t<array><string>console</string><string>postgres</string></array>
        \t<key>propertyGroup</key>
        \t<dict/>
        \t<key>events</key>
        \t<dict>
        \t\t<key>Order Placed</key>
        \t\t<dict>
        \t\t\t<key>registeredTrackers</key>
        \t\t\t<array><string>Postgres</string><string>kafka</string></array>
        \t\t\t<key>include</key>
        \t\t\t<array><string>money</string></array>
        \t\t\t<key>payload</key>
        \t\t\t<dict>
        \t\t\t\t<key>userId</key> <string>string</string>
        \t\t\t\t<key>größe</key> <string>int</string>
        \t\t\t\t<key>lines</key>
        \t\t\t\t<dict>
        \t\t\t\t\t<key>type</key> <string>array</string>
        \t\t\t\t\t<key>items</key> <dict><key>type</key> <string>objet</string></dict>
        \t\t\t\t</dict>
        \t\t\t\t<key>total</key>
        \t\t\t\t<dict>
        \t\t\t\t\t<key>type</key> <string>decimal</string>
        \t\t\t\t\t<key>minimum</key> <integer>10</integer>
        \t\t\t\t\t<key>maximum</key> <string>9.99</string>
        \t\t\t\t\t<key>required</key> <integer>1</integer>
        \t\t\t\t\t<key>deprecated</key> <string>use amount</string>
        \t\t\t\t</dict>
        \t\t\t\t<key>status</key>
        \t\t\t\t<dict>
        \t\t\t\t\t<key>type</key> <string>string</string>
        \t\t\t\t\t<key>pattern</key> <string>[a-</string>
        \t\t\t\t\t<key>enum</key> <array><string>new</string><true/><string>new</string></array>
        \t\t\t\t\t<key>minlength</key> <integer>3</integer>
        \t\t\t\t</dict>
        \t\t\t</dict>
        \t\t</dict>
        \t\t<key>order-placed</key>
        \t\t<dict>
        \t\t\t<key>payload</key> <array/>
        \t\t</dict>
        \t</dict>
        </dict>
        </plist>
        """

    private static let text = """
        shop.plist:7:2: error: unknown key 'propertyGroup' in a plan file; did you mean 'propertyGroups'? \
        [unknown-key]
        shop.plist:14:36: error: unknown tracker 'kafka'; 'trackers' declares console, postgres [unknown-tracker]
        shop.plist:16:11: error: unknown property group 'money'; the plan has none [unknown-property-group]
        shop.plist:19:5: error: the property collides with the column 'user_id', which every table has; rename it \
        [reserved-column]
        shop.plist:20:24: error: unknown type 'int'; did you mean 'integer'? [unknown-type]
        shop.plist:24:45: error: unknown type 'objet'; did you mean 'object'? [unknown-type]
        shop.plist:30:25: error: no value can satisfy the limits: 'maximum' is less than 'minimum' [impossible-limits]
        shop.plist:31:26: error: 'required' must be <true/> or <false/>, not an integer [wrong-node-type]
        shop.plist:32:6: warning: the property is deprecated but required; add 'required' with <false/> \
        [required-and-deprecated]
        shop.plist:37:25: error: the pattern is not a valid regular expression (RE2 syntax): 'missing ]: [a-' [bad-pattern]
        shop.plist:38:49: error: the value does not have the type string, so it can never be sent [enum-outside-type]
        shop.plist:38:56: error: the value is already in this 'enum'; remove it [duplicate-enum-value]
        shop.plist:39:6: error: unknown key 'minlength' in a property; did you mean 'minLength'? [unknown-key]
        shop.plist:43:3: error: the event has no trackers; list them in 'registeredTrackers' [no-trackers]
        shop.plist:43:3: error: the event collides with 'Order Placed' at shop.plist:11:3: both become the \
        Swift type 'OrderPlaced'; rename one, or give it a 'swiftName' [swift-name-collision]
        shop.plist:43:3: error: the event collides with 'Order Placed' at shop.plist:11:3: both become the \
        table 'order_placed'; rename one [sql-name-collision]
        shop.plist:45:23: error: 'payload' must be a dictionary, not an array [wrong-node-type]
        """

    @Test("each mistake in a file is one line with its position, its fix and its code")
    func golden() {
        let reading = PlanReader().read([PlanSource(file: "shop.plist", bytes: Array(Self.file.utf8))])
        let lines = reading.diagnostics.map(\.description)
        #expect(lines.joined(separator: "\n") == Self.text)
    }
}
