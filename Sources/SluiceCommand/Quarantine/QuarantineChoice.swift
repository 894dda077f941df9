/// What of which quarantine is read.
struct QuarantineChoice {
    let folder: String
    let filter: QuarantineFilter
}
