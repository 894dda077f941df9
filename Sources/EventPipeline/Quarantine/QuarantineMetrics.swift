import Metrics

/// What a quarantine counts.
///
/// | name | counts |
/// |---|---|
/// | `sluice_quarantine_events_kept_total` | rejected events that were written |
/// | `sluice_quarantine_events_lost_total` | rejected events that were not, because of the limit or the disk |
struct QuarantineMetrics: Sendable {
    let kept = Counter(label: "sluice_quarantine_events_kept_total")
    let lost = Counter(label: "sluice_quarantine_events_lost_total")
}
