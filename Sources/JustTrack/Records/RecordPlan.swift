import EventSchema
import EventValidation

/// The plan of all JustTrack events: their names and payloads are properties of a single definition.
enum RecordPlan {
    /// The name of the definition.
    static let definitionName = "JustTrack Event"
    /// The property that holds the event's name.
    static let eventKey = "event"
    /// The property that holds the event's payload.
    static let valuesKey = "values"

    /// The plan for one tracker.
    static func catalog(tracker: String) -> EventCatalog {
        let location = PlanLocation(file: "JustTrack", line: 1, column: 1)
        let definition = EventDefinition(
            key: definitionName,
            trackers: [tracker],
            properties: [
                PropertyDefinition(name: eventKey, type: .string, location: location),
                PropertyDefinition(name: valuesKey, type: .object, location: location),
            ],
            location: location
        )
        return EventCatalog(plan: TrackingPlan(events: [definition]))
    }

    /// Makes a batch of an event, given as JSON.
    ///
    /// - Throws: If the event is invalid.
    static func batch(of record: [UInt8], _ validator: EventValidator) throws(RecordError) -> EventBatch {
        do {
            let checked = try record.withUnsafeBytes { try validator.check($0, as: .document) }
            if let batch = checked.batch { return batch }
            throw RecordError.violations(checked.rejections.flatMap(\.violations))
        } catch let error as RecordError {
            throw error
        } catch {
            throw RecordError(description: "\(error)")
        }
    }
}
