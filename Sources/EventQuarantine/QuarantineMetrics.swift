import Metrics

/// What a quarantine counts.
///
/// | name | counts |
/// |---|---|
/// | `sluice_quarantine_events_kept_total` | rejected events that were written |
/// | `sluice_quarantine_events_lost_total` | rejected events that were not, because of the limit, the disk, or too many at once |
/// | `sluice_quarantine_events_overwritten_total` | rejected events that were removed at the limit, for newer ones |
struct QuarantineMetrics: Sendable {
    let kept = Counter(label: "sluice_quarantine_events_kept_total")
    let lost = Counter(label: "sluice_quarantine_events_lost_total")
    let overwritten = Counter(label: "sluice_quarantine_events_overwritten_total")
}
