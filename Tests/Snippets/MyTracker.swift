import Sluice

/// The tracker of one's own that the documentation speaks of.
struct MyTracker: SingleEventTracker {
    let name = "mine"
    var url = ""

    func track(_ event: TrackedEvent) async throws {}
}
