import Sluice

func journal() -> JournalDirectory {
    var limits = JournalConfiguration()
    limits.durability = .interval(.milliseconds(50))
    limits.maximumBytes = 1 << 30
    let journal = JournalDirectory.directory("data/journal", limits)
    return journal
}
