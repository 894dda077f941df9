import EventPipeline
import EventQuarantine
import EventSchema
import EventValidation
import Operations
import PipelineTestSupport
import PlanReading
import ServerTestSupport
import SluiceCommand
import SluiceHTTP
import Testing

/// The looks at the plan's files, one by one.
@Suite("Watching the plan's files", .timeLimit(.minutes(5)))
struct PlanFilesTests {
    /// A pipeline with the plan of the files in a folder, and what watches these.
    private static func watch(_ folder: TestFolder) throws -> (PlanFiles, Pipeline, RecordingLog) {
        let (path, log) = (folder.path("plan"), RecordingLog())
        let catalog = EventCatalog(plan: try #require(PlanReader().read(paths: [path]).plan))
        let pipeline = try Pipeline(
            catalog: catalog,
            trackers: [],
            quarantine: .discarding(logger: log.logger),
            logger: log.logger
        )
        let server = IngestServer(
            configuration: IngestConfiguration(port: 0),
            catalog: catalog,
            pipeline: pipeline,
            logger: log.logger
        )
        let files = try PlanFiles(
            folder: path,
            pipeline: pipeline,
            server: server,
            findProblem: { _ in nil },
            logger: log.logger
        )
        return (files, pipeline, log)
    }

    @Test("the first look takes nothing over if the files are as the process has read them")
    func unchanged() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        let (files, pipeline, log) = try Self.watch(folder)
        let catalog = pipeline.catalog
        for _ in 0..<3 { await files.look() }
        #expect(pipeline.catalog === catalog)
        #expect(log.all.allSatisfy { !$0.contains("The tracking plan was") }, "\(log.all)")
    }

    @Test("another Unicode normalization of a name is a change of the plan")
    func normalization() async throws {
        let folder = try TestFolder()
        func write(_ name: String) throws {
            let plan = Plans.shop(minimumQuantity: 1).replacing(">quantity<", with: ">\(name)<")
            #expect(plan.contains(name))
            try folder.write(plan, to: "plan/shop.plist")
        }
        try write("quantit\u{e9}")
        let (files, pipeline, _) = try Self.watch(folder)
        try write("quantite\u{301}")
        for _ in 0..<3 { await files.look() }
        let names = pipeline.catalog.plan.events[0].properties.map { Array($0.name.utf8) }
        #expect(names.contains(Array("quantite\u{301}".utf8)))
        try write("quantit\u{e9}")
        #expect(await files.reload(askedBy: [:]).outcome == .replaced)
        #expect(await files.reload(askedBy: [:]).outcome == .unchanged)
    }

    @Test("the first look takes over what has changed since the process read the files, once it has stayed the same")
    func changedBefore() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        let (files, pipeline, log) = try Self.watch(folder)
        try folder.write(Plans.shop(minimumQuantity: 5), to: "plan/shop.plist")
        let catalog = pipeline.catalog
        await files.look()
        #expect(pipeline.catalog === catalog)
        await files.look()
        #expect(pipeline.catalog.plan.events[0].properties.first { $0.name == "quantity" }?.minimum == .integer(5))
        for _ in 0..<3 { await files.look() }
        #expect(log.all.count { $0.contains("The tracking plan was") } == 1, "\(log.all)")
    }
}
