/// The labels of one series, in the order in which they were stated.
struct SeriesLabels: Sendable, Hashable {
    /// The labels as the text format has them, without the braces: `tracker="postgres",status="blocked"`.
    let text: String

    private init(text: String) {
        self.text = text
    }

    init(_ labels: [(String, String)]) {
        text = labels.map { name, value in
            "\(PrometheusText.labelName(name))=\"\(PrometheusText.escapedLabel(value))\""
        }.joined(separator: ",")
    }

    /// These labels and a further one, whose value needs no escape.
    func adding(_ name: String, _ value: String) -> SeriesLabels {
        SeriesLabels(text: (text.isEmpty ? "" : text + ",") + "\(name)=\"\(value)\"")
    }
}
