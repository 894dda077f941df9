/// The metrics of the tracker `postgres`.
///
/// They are here because the private port describes all metrics, and does not depend on trackers.
package enum PostgresMetricDefinitions {
    /// All of them.
    package static let all = [partitionsEnd]

    package static let partitionsEnd = MetricDefinition(
        "sluice_postgres_partitions_end_timestamp_seconds",
        .gauge,
        labels: ["tracker"],
        help: """
            When the first of the tables that are partitioned by time has no more partitions; read at the start, and once an hour \
            while events are delivered
            """
    )
}
