/// One file of an export: where it goes and what it holds, the same bytes for the same plan.
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
