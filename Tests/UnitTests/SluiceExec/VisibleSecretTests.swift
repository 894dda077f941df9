import SettingDefinitions
import Testing

@Suite("Secrets in commands")
struct VisibleSecretTests {
    @Test(
        "are guessed from the names of options and from URLs",
        arguments: [
            (["to-crm", "--token=abc"], 1), (["to-crm", "--token", "abc"], 2),
            (["to-crm", "-v", "--api-key", "abc"], 3),
            (["env", "CRM_PASSWORD=abc", "to-crm"], 1), (["to-crm", "--client-secret=abc"], 1),
            (["to-crm", "--token=YWI="], 1), (["to-crm", "--token=\u{301}abc"], 1),
            (["to-crm", "https://user:abc@crm.example/"], 1), (["psql", "postgres://:abc@db/"], 1),
        ]
    )
    func secrets(command: [String], position: Int) {
        #expect(VisibleSecret.position(in: command) == position)
        var redacted = command
        redacted[position] = "***"
        #expect(VisibleSecret.redacted(command) == redacted)
    }

    @Test(
        "are not seen in paths, names, and options without a value",
        arguments: [
            ["to-crm"], ["token"], ["to-crm", "--token-file", "/run/token"],
            ["to-crm", "--password-file=/run/password"],
            ["to-crm", "--token", "--region"], ["to-crm", "--token="], ["to-crm", "--secret-name", "crm"],
            ["to-crm", "https://crm.example/"], ["to-crm", "https://user@crm.example/"], ["to-crm", "a:b@c"],
        ]
    )
    func others(command: [String]) {
        #expect(VisibleSecret.position(in: command) == nil)
    }
}
