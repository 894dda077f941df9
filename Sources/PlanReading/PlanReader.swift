import EventSchema

/// Reads a tracking plan from its plist files and checks it.
///
/// There are three stages, each a pure function of the previous result: the bytes of a file become nodes with places
/// (`PlistReader`), the nodes become definitions (`FileInterpreter`), and the definitions of all files become the plan
/// (`PlanChecker`). Each stage reports what only it can see, so that one run finds all problems.
public struct PlanReader: Sendable {
    /// Makes a reader.
    public init() {}

    /// Reads files, and folders with all their `*.plist` files, as one plan.
    ///
    /// The files of a folder are read in the order of their names; subfolders, and files whose names begin with a dot, are
    /// ignored. A file that is reachable by several paths is read once. A file that cannot be read is a diagnostic.
    public func read(paths: [String]) -> PlanReport {
        let (sources, diagnostics) = sources(at: paths)
        return read(sources, after: diagnostics)
    }

    /// Reads the bytes of files, and of all `*.plist` files in folders, without parsing them.
    ///
    /// A file that cannot be read is left out, and is a diagnostic.
    public func sources(at paths: [String]) -> (sources: [PlanSource], diagnostics: [Diagnostic]) {
        let (files, searchDiagnostics) = PlanFileSearch.find(paths)
        var sources: [PlanSource] = []
        var diagnostics = searchDiagnostics
        for file in files {
            switch PlanFileSearch.contents(of: file) {
            case .success(let bytes): sources.append(PlanSource(file: file, bytes: bytes))
            case .failure(let failure): diagnostics.append(failure.diagnostic)
            }
        }
        return (sources, diagnostics)
    }

    /// Reads files that are already in memory as one plan.
    public func read(_ sources: [PlanSource]) -> PlanReport {
        read(sources, after: [])
    }

    private func read(_ sources: [PlanSource], after earlier: [Diagnostic]) -> PlanReport {
        var diagnostics = earlier
        var isComplete = !earlier.contains { $0.severity == .error }
        var files: [PlanFile] = []
        for source in sources {
            let (root, plistDiagnostics) = PlistReader.read(source.bytes, file: source.file)
            diagnostics += plistDiagnostics
            guard let root else {
                isComplete = false
                continue
            }
            let (file, fileDiagnostics) = FileInterpreter.interpret(root)
            diagnostics += fileDiagnostics
            files.append(file)
        }
        let (plan, planDiagnostics) = PlanChecker.check(files, isComplete: isComplete)
        diagnostics += planDiagnostics
        if plan.events.isEmpty, let first = files.first, !diagnostics.contains(where: { $0.severity == .error }) {
            diagnostics.append(Diagnostic(.noEvents, at: first.place, "the plan has no events; add one to 'events'"))
        }
        return PlanReport(plan: plan, diagnostics: diagnostics, fileOrder: sources.map(\.file))
    }
}

/// A plan file in memory.
public struct PlanSource: Sendable, Hashable {
    /// The path or name of the file in diagnostics.
    public var file: String
    /// The bytes of an XML or binary property list.
    public var bytes: [UInt8]

    /// Makes a source of a file's name and bytes.
    public init(file: String, bytes: [UInt8]) {
        self.file = file
        self.bytes = bytes
    }
}
