/// Metrics in Prometheus' text format, version 0.0.4.
///
/// See <https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>.
struct PrometheusText {
    /// The media type of the text.
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    /// Begins a metric.
    mutating func begin(_ name: String, type: String, help: String?) {
        if let help { text += "# HELP \(name) \(Self.escapedHelp(help))\n" }
        text += "# TYPE \(name) \(type)\n"
    }

    /// Adds a series.
    mutating func add(_ name: String, _ labels: SeriesLabels, value: String) {
        text += labels.text.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels.text)} \(value)\n"
    }

    /// A number as Prometheus reads it.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        // Whole numbers without a fraction, up to where a Double holds each of them.
        return value == value.rounded() && abs(value) < 0x1p53 ? String(Int64(value)) : value.description
    }

    /// A name of a metric; characters that Prometheus does not accept become underscores.
    static func metricName(_ name: String) -> String {
        valid(name) { $0 == ":" }
    }

    /// A name of a label, likewise.
    static func labelName(_ name: String) -> String {
        valid(name) { _ in false }
    }

    private static func valid(_ name: String, besides isAllowed: (Character) -> Bool) -> String {
        let text = String(
            name.map { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "_" || isAllowed($0) ? $0 : "_" }
        )
        return text.first?.isNumber ?? true ? "_" + text : text
    }

    static func escapedLabel(_ value: String) -> String {
        escaped(value, quotes: true)
    }

    private static func escapedHelp(_ text: String) -> String {
        escaped(text, quotes: false)
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += #"\\"#
            case "\n": escaped += #"\n"#
            case "\"" where quotes: escaped += #"\""#
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
