extension EventTracking {
    /// Takes what JustTrack itself stored for the trackers that are loaded; returns how many events.
    func restoreFromDefaults() -> Int {
        do {
            let events = try defaults.events().filter { isLoaded($0.tracker) }
            guard !events.isEmpty else { return 0 }
            let taken = events.filter { take($0.name, $0.payload, for: [$0.tracker]) }
            try defaults.remove(taken)
            return taken.count
        } catch {
            relay.add("What JustTrack stored in the app's defaults cannot be read: \(error)", .error)
            return 0
        }
    }
}
