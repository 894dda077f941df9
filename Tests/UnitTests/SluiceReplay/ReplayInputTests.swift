import SluiceReplay
import Testing

@Suite("The inputs of a replay")
struct ReplayInputTests {
    @Test(
        "an argument names standard input, the quarantine, a journal or a file, and is its description",
        arguments: [
            ("-", .standardInput), ("quarantine", .quarantine), ("journal://", .journal(folder: "")),
            ("journal:///var/lib/j", .journal(folder: "/var/lib/j")), ("journal://j", .journal(folder: "j")),
            ("./quarantine", .file("./quarantine")), ("journal:/j", .file("journal:/j")), ("", .file("")),
        ] as [(String, ReplayInput)]
    )
    func arguments(argument: String, input: ReplayInput) {
        #expect(ReplayInput(argument) == input)
        #expect(input.description == argument)
    }

    @Test("the size of files is known in advance, and that of the quarantine and of standard input is not")
    func byteCount() throws {
        let folder = try ReplayFolder()
        let file = ReplayInput.file(try folder.write("seven\r\n", to: "file"))
        #expect(file.byteCount == 7)
        #expect(ReplayInput.file(folder.path("missing")).byteCount == nil)
        #expect(ReplayInput.journal(folder: folder.path("missing")).byteCount == nil)
        #expect(try folder.replay([file, file], into: []).byteCount == 14)
        for input in [ReplayInput.standardInput, .quarantine] {
            #expect(input.byteCount == nil)
            #expect(try folder.replay([file, input], into: []).byteCount == nil)
        }
    }
}
