import EventModel
package import EventSchema
package import EventValidation
import TrackerKit

extension PlanLocation {
    package static func line(_ line: Int) -> PlanLocation { PlanLocation(file: "plan.plist", line: line, column: 3) }
}

extension EventCatalog {
    /// A plan with one property of each kind.
    package static let sample = EventCatalog(
        plan: TrackingPlan(events: [
            EventDefinition(
                key: "Item Purchased",
                trackers: ["console", "postgres"],
                properties: [
                    PropertyDefinition(name: "sku", type: .string, minLength: 2, maxLength: 8, location: .line(1)),
                    PropertyDefinition(
                        name: "quantity",
                        type: .integer,
                        minimum: .integer(1),
                        maximum: .integer(1000),
                        location: .line(2)
                    ),
                    PropertyDefinition(name: "price", type: .number, minimum: .integer(0), location: .line(3)),
                    PropertyDefinition(
                        name: "code",
                        type: .string,
                        isRequired: false,
                        pattern: "^[a-z][0-9]$",
                        location: .line(4)
                    ),
                    PropertyDefinition(
                        name: "size",
                        type: .string,
                        isRequired: false,
                        isNullable: true,
                        enumeration: [.string("small"), .string("large")],
                        location: .line(5)
                    ),
                    PropertyDefinition(
                        name: "total",
                        type: .decimal,
                        isRequired: false,
                        minimum: .string("0.01"),
                        location: .line(6)
                    ),
                    PropertyDefinition(name: "gift", type: .boolean, isRequired: false, location: .line(7)),
                    PropertyDefinition(name: "at", type: .timestamp, isRequired: false, location: .line(8)),
                    PropertyDefinition(name: "day", type: .date, isRequired: false, location: .line(9)),
                    PropertyDefinition(name: "order", type: .uuid, isRequired: false, location: .line(10)),
                    PropertyDefinition(
                        name: "lines",
                        type: .array,
                        isRequired: false,
                        items: PropertyDefinition(
                            name: "",
                            type: .object,
                            properties: [
                                PropertyDefinition(name: "name", type: .string, location: .line(12)),
                                PropertyDefinition(
                                    name: "count",
                                    type: .integer,
                                    isRequired: false,
                                    location: .line(13)
                                ),
                            ],
                            location: .line(11)
                        ),
                        location: .line(11)
                    ),
                    PropertyDefinition(name: "extra", type: .any, isRequired: false, location: .line(14)),
                    PropertyDefinition(name: "bag", type: .object, isRequired: false, location: .line(15)),
                ],
                location: .line(1)
            ),
            EventDefinition(
                key: "Open",
                trackers: ["kafka"],
                properties: [PropertyDefinition(name: "a", type: .integer, isRequired: false, location: .line(21))],
                allowsAdditionalProperties: true,
                location: .line(20)
            ),
            EventDefinition(key: "Ping", trackers: ["console"], location: .line(30)),
        ])
    )
}

extension EventValidator {
    package func check(_ text: String, as format: BodyFormat = .document) throws -> CheckedBody {
        try check(bytes: Array(text.utf8), as: format)
    }

    package func check(bytes: [UInt8], as format: BodyFormat = .document) throws -> CheckedBody {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        return try check(UnsafeRawBufferPointer(copy), as: format)
    }
}

extension CheckedBody {
    /// The canonical lines of the accepted events.
    package var lines: [String] {
        batch.map { batch in (0..<batch.count).map { TrackedEvent(batch: batch, index: $0).json } } ?? []
    }

    /// `code path` of every violation, event by event.
    package var verdicts: [[String]] {
        rejections.map { $0.violations.map { "\($0.code.rawValue) \($0.path)" } }
    }
}
