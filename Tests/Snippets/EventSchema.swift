import EventCodegen
import EventSchema

func readPlan() {
    let reading = PlanReader().read(paths: ["events"])
    for diagnostic in reading.diagnostics { print(diagnostic) }
    guard let plan = reading.plan else { return }
    for event in plan.events { print(event.name, event.properties.map(\.name)) }
}

func generate(_ plan: TrackingPlan) -> (String?, [Diagnostic]) {
    let (text, diagnostics) = SwiftGenerator(options: CodegenOptions(accessLevel: .public)).generate(plan)
    return (text, diagnostics)
}
