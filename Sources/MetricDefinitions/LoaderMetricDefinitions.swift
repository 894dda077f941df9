/// The metrics of `sluice load`.
///
/// They are here because the private port describes all metrics, and does not depend on the loader.
package enum LoaderMetricDefinitions {
    /// All of them.
    package static let all = [loaded, refused, forgotten, skipped, failing, assigned, next, lag, age, halted]

    package static let loaded = MetricDefinition(
        "sluice_load_records_loaded_total",
        .counter,
        labels: ["tracker"],
        help: "Events that the tracker has accepted"
    )
    package static let refused = MetricDefinition(
        "sluice_load_records_refused_total",
        .counter,
        labels: ["tracker"],
        help:
            "Records that were kept as refused, because they do not follow the plan or the tracker does not accept them"
    )
    package static let forgotten = MetricDefinition(
        "sluice_load_records_forgotten_total",
        .counter,
        labels: ["tracker"],
        help:
            "Records of people whose data was erased with `sluice forget`, which were dropped before the tracker got them"
    )
    package static let skipped = MetricDefinition(
        "sluice_load_offsets_skipped_total",
        .counter,
        labels: ["tracker"],
        help: "Offsets that belong to no record, such as those of transaction markers"
    )
    package static let failing = MetricDefinition(
        "sluice_load_failing",
        .gauge,
        labels: ["tracker"],
        help: "1 while the tracker cannot start or does not accept records, or while Kafka cannot be read"
    )
    package static let assigned = MetricDefinition(
        "sluice_load_assigned",
        .gauge,
        labels: ["tracker", "partition"],
        help: "1 if this process has the partition; if not, 0, as are its other values"
    )
    package static let next = MetricDefinition(
        "sluice_load_next_offset",
        .gauge,
        labels: ["tracker", "partition"],
        help: "The offset of the first record that is not loaded"
    )
    package static let lag = MetricDefinition(
        "sluice_load_lag_records",
        .gauge,
        labels: ["tracker", "partition"],
        help: "Records in Kafka that are not loaded"
    )
    package static let age = MetricDefinition(
        "sluice_load_lag_seconds",
        .gauge,
        labels: ["tracker", "partition"],
        help: "How long ago the oldest record that is not loaded was written, at most; 0 if there is none"
    )
    package static let halted = MetricDefinition(
        "sluice_load_halted",
        .gauge,
        labels: ["tracker", "partition"],
        help:
            "1 if the partition is halted, because records are missing in Kafka or too many are refused"
    )
}
