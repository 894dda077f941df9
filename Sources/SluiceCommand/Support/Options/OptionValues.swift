public import ArgumentParser
import EventModel
public import Logging
public import PlanTools
public import SluiceConsole

// Values of options: the help lists the allowed ones, and any other is a usage error.

extension ConsoleConfiguration.Format: ExpressibleByArgument {}

extension Logger.Level: @retroactive ExpressibleByArgument {}

extension Audience: ExpressibleByArgument {}

extension Timestamp {
    /// Parses the value of an option; `nil` if the option was not given.
    ///
    /// - Throws: `ValidationError` if the value is not an RFC 3339 time.
    init?(option: String, _ text: String?) throws {
        guard let text else { return nil }
        guard let time = Timestamp(text) else {
            throw ValidationError("\(option) takes an RFC 3339 time such as 2010-12-01T00:00:00Z, not '\(text)'.")
        }
        self = time
    }
}
