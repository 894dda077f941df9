public import ArgumentParser
public import ConsoleTracker
public import EventSchema
public import Logging

// Options with a few allowed values: what they are stands in the help, and another one is wrong usage.

extension ConsoleConfiguration.Format: ExpressibleByArgument {}

extension Logger.Level: @retroactive ExpressibleByArgument {}

extension Audience: ExpressibleByArgument {}
