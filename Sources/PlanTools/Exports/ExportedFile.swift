import EventSchema

/// One file of an export; the same plan gives the same bytes.
package struct ExportedFile: Sendable, Hashable {
    /// The path within the export's folder, with slashes.
    package let path: String
    /// The whole text, which ends with a newline.
    package let text: String

    init(path: String, text: String) {
        self.path = path
        self.text = text
    }
}

extension EventDefinition {
    /// The name of the event's file, link and table; unique in a plan.
    var anchor: String { SQLName.snakeCase(name) }
}
