import PlanReading

func readPlan() {
    let report = PlanReader().read(paths: ["events"])
    for diagnostic in report.diagnostics { print(diagnostic) }
    guard let plan = report.plan else { return }
    for event in plan.events { print(event.name, event.properties.map(\.name)) }
}
