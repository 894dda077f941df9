/// The metrics of the tracker `postgres`.
///
/// They are here because the private port describes all metrics, and does not depend on trackers.
package enum PostgresMetricDefinitions {
    /// All of them.
    package static let all = [partitionsAhead]

    package static let partitionsAhead = MetricDefinition(
        "sluice_postgres_partitions_ahead_seconds",
        .gauge,
        labels: ["tracker"],
        help: """
            How long from now every table that is partitioned by time has partitions; read at the start, and once an hour while \
            events are delivered
            """
    )
}
