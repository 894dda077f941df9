import CoreMetrics
import MetricDefinitions
import Operations
import Testing

@Suite("The registry of metrics")
struct PrometheusRegistryTests {
    let registry = PrometheusRegistry(maximumSeries: 10)

    private func lines(of metric: String) -> [String] {
        registry.text.split(separator: "\n").map(String.init).filter { $0.contains(metric) }
    }

    @Test("writes counters, gauges and sums in Prometheus' text format, ordered by name and labels")
    func text() {
        let requests = { Counter(label: "requests_total", dimensions: [("code", $0)], factory: registry) }
        requests("b").increment(by: 2)
        requests("a").increment()
        requests("b").increment(by: 5)
        Gauge(label: "depth", factory: registry).record(2.5)
        Meter(label: "level", factory: registry).set(3)
        FloatingPointCounter(label: "seconds_total", factory: registry).increment(by: 0.25)
        let sizes = Recorder(label: "sizes", factory: registry)
        sizes.record(4)
        sizes.record(6)
        #expect(
            registry.text == """
                # TYPE depth gauge
                depth 2.5
                # TYPE level gauge
                level 3
                # TYPE requests_total counter
                requests_total{code="a"} 1
                requests_total{code="b"} 7
                # TYPE seconds_total counter
                seconds_total 0.25
                # TYPE sizes summary
                sizes_sum 10
                sizes_count 2
                # HELP sluice_metrics_dropped_series_total Series that are not exported, because there are too many, or because of an earlier metric of the same name
                # TYPE sluice_metrics_dropped_series_total counter
                sluice_metrics_dropped_series_total 0

                """
        )
    }

    @Test("describes the metrics that it knows")
    func help() {
        let name = "sluice_events_unrouted_total"
        Counter(label: name, factory: registry).increment()
        #expect(lines(of: name).count == 3)
        #expect(lines(of: name).first?.hasPrefix("# HELP \(name) Acknowledged events") == true)
    }

    @Test("counts durations in buckets of seconds, each of which includes the smaller ones")
    func histogram() {
        let timer = Timer(label: "wait_seconds", dimensions: [("tracker", "a")], factory: registry)
        for nanoseconds in [100_000, 100_001, 5_000_000_000, 90_000_000_000] { timer.recordNanoseconds(nanoseconds) }
        let lines = lines(of: "wait_seconds")
        #expect(lines.contains(#"wait_seconds_bucket{tracker="a",le="0.0001"} 1"#))
        #expect(lines.contains(#"wait_seconds_bucket{tracker="a",le="0.00025"} 2"#))
        #expect(lines.contains(#"wait_seconds_bucket{tracker="a",le="5"} 3"#))
        #expect(lines.contains(#"wait_seconds_bucket{tracker="a",le="60"} 3"#))
        #expect(lines.contains(#"wait_seconds_bucket{tracker="a",le="+Inf"} 4"#))
        #expect(lines.contains(#"wait_seconds_count{tracker="a"} 4"#))
        #expect(lines.contains { $0.hasPrefix(#"wait_seconds_sum{tracker="a"} 95.0002"#) })
    }

    @Test("escapes the values of labels, and changes names that Prometheus does not accept")
    func names() {
        Counter(label: "http.server-requests", dimensions: [("1st path", "a\"b\\c\nd é")], factory: registry)
            .increment()
        #expect(lines(of: "requests{") == [#"http_server_requests{_1st_path="a\"b\\c\nd é"} 1"#])
    }

    @Test("writes numbers as Prometheus reads them")
    func numbers() {
        let values: [Double] = [.nan, .infinity, -.infinity, 1e300, 0.1, 1e15, -2]
        for (index, value) in values.enumerated() {
            Gauge(label: "gauge", dimensions: [("index", "\(index)")], factory: registry).record(value)
        }
        let written = lines(of: "gauge{").map { $0.split(separator: " ")[1] }
        #expect(written == ["NaN", "+Inf", "-Inf", "1e+300", "0.1", "1000000000000000", "-2"])
    }

    @Test("keeps a limited number of series, and counts the others")
    func limit() {
        for number in 0..<15 { Counter(label: "many", dimensions: [("n", "\(number)")], factory: registry).increment() }
        #expect(lines(of: "many{").count == 10)
        #expect(lines(of: "dropped_series_total").last?.hasSuffix(" 5") == true)
    }

    @Test("does not mix metrics of different kinds under one name")
    func kinds() {
        Counter(label: "mixed", factory: registry).increment()
        Gauge(label: "mixed", factory: registry).record(7)
        #expect(lines(of: "mixed") == ["# TYPE mixed counter", "mixed 1"])
        #expect(lines(of: "dropped_series_total").last?.hasSuffix(" 1") == true)
    }

    @Test("has definitions with names of one grammar, and each name once")
    func definitions() {
        let names = MetricCatalog.all.map(\.name)
        #expect(Set(names).count == names.count)
        for metric in MetricCatalog.all {
            #expect(metric.name.wholeMatch(of: /(sluice|process)(_[a-z]+)+/) != nil, "\(metric.name)")
            #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter), "\(metric.name)")
            if metric.kind == .histogram { #expect(metric.name.hasSuffix("_seconds"), "\(metric.name)") }
            #expect(!metric.help.hasSuffix("."), "\(metric.name)")
        }
    }
}
