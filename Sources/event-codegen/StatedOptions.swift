import EventCodegen
import Foundation
import PlanReading

/// The options in `event-codegen.json`, all of them optional.
struct StatedOptions {
    /// The reason for which a file is invalid.
    struct Problem: Error {
        /// One sentence without a full stop.
        let sentence: String
    }

    var accessLevel: CodegenOptions.AccessLevel?
    var namespace: String?
    var style: CodegenOptions.Style?
    var library: CodegenOptions.Library?

    /// Makes options of which none is set.
    init() {}

    /// Reads a file.
    init(file: String) throws(Problem) {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: file))
        } catch {
            throw Problem(sentence: "the options cannot be read: \(SystemReason.of(error))")
        }
        guard let values = try? JSONDecoder().decode([String: String].self, from: data) else {
            throw Problem(sentence: #"the options are a JSON object of strings, such as {"accessLevel": "public"}"#)
        }
        let known = ["accessLevel", "namespace", "style", "library"]
        if values["typePrefix"] != nil {
            throw Problem(sentence: "'typePrefix' is no longer an option; each target's events have a 'namespace'")
        }
        if let unknown = values.keys.sorted().first(where: { !known.contains($0) }) {
            throw Problem(sentence: "unknown option '\(unknown)'; there are \(known.joined(separator: ", "))")
        }
        accessLevel = try Self.choice("accessLevel", in: values)
        namespace = values["namespace"]
        style = try Self.choice("style", in: values)
        library = try Self.choice("library", in: values)
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String,
        in values: [String: String]
    ) throws(Problem) -> Choice? where Choice.RawValue == String {
        guard let text = values[key] else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        throw Problem(sentence: "'\(key)' is one of \(choices), not '\(text)'")
    }
}
