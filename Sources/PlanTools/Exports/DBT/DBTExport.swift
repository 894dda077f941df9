import EventModel
package import EventSchema

/// The plan's tables in PostgreSQL as a project of dbt: sources with descriptions and tests, and models that answer the usual
/// questions about events.
///
/// The models read the tables through the names of this plan, so a model that names another event does not compile.
package struct DBTExport: Sendable {
    /// A column that the tables of all events have.
    package struct Column: Sendable, Hashable {
        package var name: String
        /// `nil` for none.
        package var description: String?

        package init(name: String, description: String?) {
            self.name = name
            self.description = description
        }
    }

    /// A name that is none of the events that have a table.
    package struct UnknownEvent: Error, CustomStringConvertible {
        let name: String
        let known: [String]

        package var description: String {
            "The plan has no event \(quoted(name)) with a table; "
                + Spelling.hint(for: name, among: known, listedAs: "there are:")
        }
    }

    /// The events that have a table, as the tracker sees them, in the plan's order.
    private let events: [EventDefinition]
    private let sources: DBTSources
    private let funnel: [String]

    /// Prepares the export of a valid plan.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - tracker: The tracker whose events have tables.
    ///   - schema: The schema of the tables.
    ///   - ownColumns: The columns that every table has before those of its properties.
    ///   - funnel: The names of the events of the model `sluice_funnel`, in the order of its steps; fewer than two for no model.
    /// - Throws: `UnknownEvent` if the funnel names an event without a table.
    package init(
        _ plan: TrackingPlan,
        tracker: String,
        schema: String,
        ownColumns: [Column],
        funnel: [String]
    ) throws(UnknownEvent) {
        let tracker = tracker.lowercased()
        let events = plan.visible(to: tracker).events.filter { event in
            event.trackers.contains { $0.lowercased() == tracker }
        }
        let known = events.map(\.name)
        if let unknown = funnel.first(where: { !known.contains($0) }) {
            throw UnknownEvent(name: unknown, known: known)
        }
        self.events = events
        self.funnel = funnel
        sources = DBTSources(events, schema: schema, ownColumns: ownColumns)
    }

    /// Whether no event has a table.
    package var isEmpty: Bool { events.isEmpty }

    /// The files of the project's folder.
    package var files: [ExportedFile] {
        let project =
            Self.text(PackageResources.dbt_project_yml)
            + "  sluice_funnel: [\(funnel.map(DBTText.quoted).joined(separator: ", "))]\n"
        return [
            ExportedFile(path: "dbt_project.yml", text: project),
            ExportedFile(path: "profiles.yml", text: Self.text(PackageResources.profiles_yml)),
            ExportedFile(path: "macros/sluice_events.sql", text: Self.text(PackageResources.sluice_events_sql)),
            ExportedFile(path: "macros/sluice_tables.sql", text: tables),
            ExportedFile(path: "macros/sluice_window.sql", text: Self.text(PackageResources.sluice_window_sql)),
            ExportedFile(path: "models/sluice_actives.sql", text: Self.text(PackageResources.sluice_actives_sql)),
            ExportedFile(path: "models/sluice_funnel.sql", text: Self.text(PackageResources.sluice_funnel_sql)),
            ExportedFile(path: "models/sluice_models.yml", text: Self.text(PackageResources.sluice_models_yml)),
            ExportedFile(path: "models/sluice_retention.sql", text: Self.text(PackageResources.sluice_retention_sql)),
            ExportedFile(path: "models/sluice_sessions.sql", text: Self.text(PackageResources.sluice_sessions_sql)),
            ExportedFile(path: "models/sluice_sources.yml", text: sources.text),
            ExportedFile(path: "models/sluice_users.sql", text: Self.text(PackageResources.sluice_users_sql)),
            ExportedFile(path: "tests/generic/sluice_tests.sql", text: Self.text(PackageResources.sluice_tests_sql)),
        ]
    }

    /// The macro with the table of each event.
    private var tables: String {
        let entries = events.map { "    \(DBTText.quoted($0.name)): \(DBTText.quoted($0.anchor))" }
        return """
            {# The events of the plan, each with its table. #}
            {% macro sluice_tables() %}
              {% do return({
            \(entries.joined(separator: ",\n"))
              }) %}
            {% endmacro %}

            """
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
