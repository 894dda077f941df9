public import ArgumentParser
public import Logging
public import PlanTools
public import SluiceConsole

// Options with a few allowed values: what they are stands in the help, and another one is wrong usage.

extension ConsoleConfiguration.Format: ExpressibleByArgument {}

extension Logger.Level: @retroactive ExpressibleByArgument {}

extension Audience: ExpressibleByArgument {}
