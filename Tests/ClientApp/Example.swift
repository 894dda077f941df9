import Foundation
import SluiceClient

/// The example of Documentation/Send/SwiftClient.md.
func example(url: URL, folder: String) async throws {
    var configuration = EventClient.Configuration(url: url, key: "the write key", folder: folder)
    configuration.onReport = { report in print(report) }
    let client = try EventClient(configuration)
    Task { await client.run() }

    try client.track(AppEvents.ButtonPressed(number: 1), context: EventContext(userID: "17850"))
    try await client.flush(within: .seconds(2))
}
