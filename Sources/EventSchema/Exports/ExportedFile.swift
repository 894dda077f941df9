/// One file of an export: where it goes and what it holds, the same bytes for the same plan.
public struct ExportedFile: Sendable, Hashable {
    /// The path within the export's folder, with slashes.
    public let path: String
    /// The whole text, which ends with a newline.
    public let text: String

    init(path: String, text: String) {
        self.path = path
        self.text = text
    }
}
