import Foundation
import SluiceClient

/// An app that tracks events and sends them until it is killed.
///
///     ClientApp URL FOLDER FIRST COUNT [LABEL]
///
/// It tracks the events with the numbers from FIRST on, prints the id of each one that is queued, and `done` when all queued events
/// are sent.
@main
struct ClientApp {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count >= 4, let url = URL(string: arguments[1]), let first = Int(arguments[3]),
            let count = Int(arguments[4])
        else { throw ExitCode.usage }
        var configuration = EventClient.Configuration(url: url, folder: arguments[2])
        configuration.maximumBatchEvents = 20
        configuration.linger = .milliseconds(20)
        configuration.onReport = { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
        let client = try EventClient(configuration)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await client.run() }
            do {
                for number in first..<first + count {
                    let event = AppEvents.ButtonPressed(number: number, label: arguments.count > 4 ? arguments[5] : nil)
                    // Unbuffered: what was printed before the process is killed was queued.
                    FileHandle.standardOutput.write(Data("\(try client.track(event))\n".utf8))
                }
                try await client.flush(within: .seconds(240))
                print("done")
            } catch {
                print(error)
            }
            group.cancelAll()
        }
    }

    private enum ExitCode: Error {
        case usage
    }
}
