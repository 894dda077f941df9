/// Small plans for tests that need an invalid or a changed plan.
enum Plans {
    /// One event, `Sold`, whose `quantity` is at least `minimum`.
    static func shop(minimumQuantity minimum: Int, additionally: String = "") -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0">
        <dict>
            <key>events</key>
            <dict>
                <key>Sold</key>
                <dict>
                    <key>registeredTrackers</key><array><string>console</string></array>
                    <key>payload</key>
                    <dict>
                        <key>quantity</key>
                        <dict>
                            <key>type</key><string>integer</string>
                            <key>minimum</key><integer>\(minimum)</integer>
                        </dict>
                        <key>note</key>
                        <dict><key>type</key><string>string</string><key>required</key><false/></dict>
                        \(additionally)
                    </dict>
                </dict>
            </dict>
        </dict>
        </plist>
        """
    }

    /// A plan with an error on each of four lines.
    static let broken = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0">
        <dict>
            <key>trackers</key><array><string>console</string></array>
            <key>events</key>
            <dict>
                <key>Sold</key>
                <dict>
                    <key>registeredTrackers</key><array><string>konsole</string></array>
                    <key>payload</key>
                    <dict>
                        <key>quantity</key><string>intger</string>
                    </dict>
                </dict>
                <key>Idle</key>
                <dict>
                    <key>payload</key><dict/>
                </dict>
            </dict>
        </dict>
        </plist>
        """
}
