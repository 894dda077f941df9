/// What `sluice init` writes and prints.
enum StarterPlan {
    /// A plan that explains its format by an example.
    static let plist = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <!--
            A tracking plan: every event there is, what it means, where it goes, and what it holds.

            Every *.plist file in this folder belongs to the plan; give each team its own. `sluice lint` checks all of
            them, `sluice new-event` adds an event, and `sluice diff main` tells what your changes mean for those who
            send events and for those who read them.
        -->
        <plist version="1.0">
        <dict>
            <!-- Where events can go. These three come with Sluice; each event names those that it is for. -->
            <key>trackers</key>
            <array>
                <string>console</string>
                <string>postgres</string>
                <string>kafka</string>
            </array>

            <!-- Properties that several events share: an event takes them over with <key>include</key>. -->
            <key>propertyGroups</key>
            <dict>
                <key>money</key>
                <dict>
                    <!-- A decimal keeps all its digits; a number (a double) does not, and is for measurements. -->
                    <key>total</key>
                    <dict>
                        <key>type</key>
                        <string>decimal</string>
                        <key>description</key>
                        <string>What the customer pays, taxes included.</string>
                        <key>minimum</key>
                        <string>0</string>
                        <key>examples</key>
                        <array>
                            <string>19.90</string>
                        </array>
                    </dict>
                    <!-- With an enum, nothing but these values is taken. -->
                    <key>currency</key>
                    <dict>
                        <key>type</key>
                        <string>string</string>
                        <key>enum</key>
                        <array>
                            <string>EUR</string>
                            <string>GBP</string>
                        </array>
                    </dict>
                </dict>
            </dict>

            <key>events</key>
            <dict>
                <!-- The event's name, as it is sent. -->
                <key>Order Placed</key>
                <dict>
                    <key>description</key>
                    <string>A customer placed an order.</string>
                    <!-- The team that answers for it. -->
                    <key>owner</key>
                    <string>checkout</string>
                    <!-- Add postgres and kafka once you have them: sluice serve takes their addresses. -->
                    <key>registeredTrackers</key>
                    <array>
                        <string>console</string>
                    </array>
                    <key>include</key>
                    <array>
                        <string>money</string>
                    </array>
                    <!--
                        What the event holds. A property is a type, or a dict that says more. The types are string,
                        integer, number, decimal, boolean, timestamp, date, uuid, array, object, and any.

                        Limits: minimum and maximum for numbers; minLength, maxLength and pattern for strings; enum for
                        both. A property must be there, unless required is false, and must not be null, unless
                        nullable is true.
                    -->
                    <key>payload</key>
                    <dict>
                        <key>orderId</key>
                        <string>uuid</string>

                        <key>voucher</key>
                        <dict>
                            <key>type</key>
                            <string>string</string>
                            <key>description</key>
                            <string>The code on the voucher, where the customer had one.</string>
                            <key>required</key>
                            <false/>
                            <key>pattern</key>
                            <string>^[A-Z0-9]{6}$</string>
                        </dict>

                        <!-- An array says what its items are; an object says what its properties are. -->
                        <key>lines</key>
                        <dict>
                            <key>type</key>
                            <string>array</string>
                            <key>items</key>
                            <dict>
                                <key>type</key>
                                <string>object</string>
                                <key>properties</key>
                                <dict>
                                    <key>article</key>
                                    <dict>
                                        <key>type</key>
                                        <string>string</string>
                                        <key>minLength</key>
                                        <integer>1</integer>
                                        <key>maxLength</key>
                                        <integer>40</integer>
                                    </dict>
                                    <key>quantity</key>
                                    <dict>
                                        <key>type</key>
                                        <string>integer</string>
                                        <key>minimum</key>
                                        <integer>1</integer>
                                    </dict>
                                </dict>
                            </dict>
                        </dict>
                    </dict>
                </dict>
            </dict>
        </dict>
        </plist>

        """

    /// Settings, of which `sluice settings` lists all.
    static let settings = """
        {
            "events": { "directory": "events" },
            "http": { "listen": "127.0.0.1:8080" },
            "console": { "format": "pretty" },
            "journal": { "folder": "journal" },
            "quarantine": { "folder": "quarantine" }
        }

        """

    /// What to type, in the folder.
    static let nextSteps = """
            sluice lint
            sluice serve --config sluice.json

        and in another terminal, a right event and a wrong one:

            curl -s http://127.0.0.1:8080/v1/events --json '{"name": "Order Placed", "payload": {
                "orderId": "0190a2b4-7c1e-7d3a-9f00-1234567890ab", "lines": [{"article": "teapot", "quantity": 1}],
                "total": "19.90", "currency": "EUR"}}'
            curl -s http://127.0.0.1:8080/v1/events --json '{"name": "Order Placed", "payload": {
                "orderId": "soon", "lines": [], "currency": "EUR"}}'

        Then add an event of your own:

            sluice new-event "Order Cancelled" --owner checkout
        """
}
