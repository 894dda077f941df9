/// The part of a plan that `sluice init --segment` writes.
enum SegmentPlan {
    /// The events of the messages of Segment's and RudderStack's clients besides `track`.
    static let plist = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <!--
            The messages of Segment's and RudderStack's clients that are no track events; a track message is the event
            that it names. Each accepts any further properties: declare those that you rely on, and give each event the
            trackers that it goes to.
        -->
        <plist version="1.0">
        <dict>
            <key>events</key>
            <dict>
                <key>identify</key>
                <dict>
                    <key>description</key>
                    <string>What a client knows about a user: the traits of Segment's identify.</string>
                    <key>registeredTrackers</key>
                    <array>
                        <string>console</string>
                    </array>
                    <key>additionalProperties</key>
                    <true/>
                    <key>payload</key>
                    <dict/>
                </dict>
                <key>page</key>
                <dict>
                    <key>description</key>
                    <string>A user has seen a page of a website.</string>
                    <key>registeredTrackers</key>
                    <array>
                        <string>console</string>
                    </array>
                    <key>additionalProperties</key>
                    <true/>
                    <key>payload</key>
                    <dict>
                        <key>name</key>
                        <dict>
                            <key>type</key>
                            <string>string</string>
                            <key>description</key>
                            <string>The page's name.</string>
                            <key>required</key>
                            <false/>
                        </dict>
                        <key>category</key>
                        <dict>
                            <key>type</key>
                            <string>string</string>
                            <key>description</key>
                            <string>The page's category.</string>
                            <key>required</key>
                            <false/>
                        </dict>
                    </dict>
                </dict>
                <key>screen</key>
                <dict>
                    <key>description</key>
                    <string>A user has seen a screen of an app.</string>
                    <key>registeredTrackers</key>
                    <array>
                        <string>console</string>
                    </array>
                    <key>additionalProperties</key>
                    <true/>
                    <key>payload</key>
                    <dict>
                        <key>name</key>
                        <dict>
                            <key>type</key>
                            <string>string</string>
                            <key>description</key>
                            <string>The screen's name.</string>
                            <key>required</key>
                            <false/>
                        </dict>
                        <key>category</key>
                        <dict>
                            <key>type</key>
                            <string>string</string>
                            <key>description</key>
                            <string>The screen's category.</string>
                            <key>required</key>
                            <false/>
                        </dict>
                    </dict>
                </dict>
                <key>group</key>
                <dict>
                    <key>description</key>
                    <string>A user belongs to a group, such as a company: the traits of Segment's group.</string>
                    <key>registeredTrackers</key>
                    <array>
                        <string>console</string>
                    </array>
                    <key>additionalProperties</key>
                    <true/>
                    <key>payload</key>
                    <dict>
                        <key>groupId</key>
                        <dict>
                            <key>type</key>
                            <string>string</string>
                            <key>description</key>
                            <string>The group's id.</string>
                        </dict>
                    </dict>
                </dict>
                <key>alias</key>
                <dict>
                    <key>description</key>
                    <string>A user has got another id.</string>
                    <key>registeredTrackers</key>
                    <array>
                        <string>console</string>
                    </array>
                    <key>additionalProperties</key>
                    <true/>
                    <key>payload</key>
                    <dict>
                        <key>previousId</key>
                        <dict>
                            <key>type</key>
                            <string>string</string>
                            <key>description</key>
                            <string>The id before.</string>
                        </dict>
                    </dict>
                </dict>
        </dict>
        </dict>
        </plist>

        """
}
