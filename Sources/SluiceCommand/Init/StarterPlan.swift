/// The files that `sluice init` writes, and the next steps it prints.
enum StarterPlan {
    /// A plan whose comments explain the format.
    static let plist = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <!--
            A tracking plan defines all events: what each one means, where it goes, and which properties it has.

            Every *.plist file in this folder belongs to the plan; each team can have its own. `sluice lint` checks all
            of them, `sluice new-event` adds an event, and `sluice diff main` reports what your changes mean for the
            senders and the readers of events.
        -->
        <plist version="1.0">
        <dict>
            <!-- The trackers that events can go to. Sluice has these three; each event names its own below. -->
            <key>trackers</key>
            <array>
                <string>console</string>
                <string>postgres</string>
                <string>kafka</string>
            </array>

            <!-- Properties that several events share. An event adds a group with <key>include</key>. -->
            <key>propertyGroups</key>
            <dict>
                <key>money</key>
                <dict>
                    <!-- A decimal keeps all its digits. A number (a double) does not, and is for measurements. -->
                    <key>total</key>
                    <dict>
                        <key>type</key>
                        <string>decimal</string>
                        <key>description</key>
                        <string>The amount that the customer pays, including taxes.</string>
                        <key>minimum</key>
                        <string>0</string>
                        <key>examples</key>
                        <array>
                            <string>19.90</string>
                        </array>
                    </dict>
                    <!-- With an enum, only these values are valid. -->
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
                <!-- The event's name, as senders write it. -->
                <key>Order Placed</key>
                <dict>
                    <key>description</key>
                    <string>A customer placed an order.</string>
                    <!-- The team that is responsible for it. -->
                    <key>owner</key>
                    <string>checkout</string>
                    <!-- Add postgres and kafka when you have them; sluice serve has options for their addresses. -->
                    <key>registeredTrackers</key>
                    <array>
                        <string>console</string>
                    </array>
                    <key>include</key>
                    <array>
                        <string>money</string>
                    </array>
                    <!--
                        The event's properties. Each is a type, or a dict with a type and more. The types are string,
                        integer, number, decimal, boolean, timestamp, date, uuid, array, object, and any.

                        Limits: minimum and maximum for numbers; minLength, maxLength and pattern for strings; enum for
                        both. A property is required unless its required is false, and must not be null unless its
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
                            <string>The code on the voucher, if the customer had one.</string>
                            <key>required</key>
                            <false/>
                            <key>pattern</key>
                            <string>^[A-Z0-9]{6}$</string>
                        </dict>

                        <!-- An array defines its items, and an object its properties. -->
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

    /// Some settings.
    static let settings = """
        # `sluice config example` prints every setting with its meaning, and `sluice config check` checks this file.
        events:
          directory: events

        http:
          listen: 127.0.0.1:8080

        console:
          format: pretty

        journal:
          folder: journal

        quarantine:
          folder: quarantine

        """

    /// The commands to run next, in the folder.
    static let nextSteps = """
            sluice lint
            sluice serve --config sluice.yaml

        and in another terminal, send a valid event and an invalid one:

            curl -s http://127.0.0.1:8080/v1/events --json '{"name": "Order Placed", "payload": {
                "orderId": "0190a2b4-7c1e-7d3a-9f00-1234567890ab", "lines": [{"article": "teapot", "quantity": 1}],
                "total": "19.90", "currency": "EUR"}}'
            curl -s http://127.0.0.1:8080/v1/events --json '{"name": "Order Placed", "payload": {
                "orderId": "soon", "lines": [], "currency": "EUR"}}'

        Then add an event of your own:

            sluice new-event "Order Cancelled" --owner checkout
        """
}
