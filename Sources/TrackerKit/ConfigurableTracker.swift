package import Logging
package import SettingDefinitions

/// A tracker that a configuration file can name by its type, with its settings and how it is made from them.
///
/// Each type has a tracker of the same name, which needs no section of its own: `postgres.url` is the `url` of the tracker `postgres`.
/// Further ones are in the section `trackers`.
package protocol ConfigurableTracker: Tracker {
    associatedtype Configuration: Configurable

    /// The name of the type, in lower case; its settings begin with it.
    static var type: String { get }
    /// The settings, those of the process among them that only this type needs.
    static var settings: [Setting<Configuration>] { get }
    /// At least one of these must be set for the tracker to exist; empty if it needs no setting.
    static var requiresOneOf: [SettingKey] { get }
    /// A tracker for the example of a configuration file.
    static var example: (name: String, values: [SettingKey: String]) { get }

    /// Reads the configuration of the tracker with this name, and notes what is wrong with it.
    ///
    /// - Returns: `nil` if the tracker does not exist, because a setting that it needs is not stated or because it is switched off.
    static func configuration(named name: String, from values: any SettingValues) -> Configuration?

    /// The limits that a tracker with this configuration has by itself; `nil` if it has those of all trackers.
    ///
    /// They are the tracker's `deliveryLimits`; the settings need them before there is a tracker.
    static func deliveryLimits(of configuration: Configuration) -> DeliveryLimits?

    /// Makes the tracker.
    static func tracker(_ configuration: Configuration, in context: TrackerContext) -> any Tracker
}

extension ConfigurableTracker {
    package static func deliveryLimits(of configuration: Configuration) -> DeliveryLimits? { nil }
}

/// What a tracker gets from the program that it is part of.
package struct TrackerContext: Sendable {
    package let logger: Logger
    /// Whether the tracker starts only if all of its tables or topics can be used.
    package let requiresEveryDestination: Bool
    /// Whether the `traceparent` of events is sent to the destination, if that has a place for it.
    package let recordsTraceparent: Bool

    package init(logger: Logger, requiresEveryDestination: Bool = false, recordsTraceparent: Bool = false) {
        self.logger = logger
        self.requiresEveryDestination = requiresEveryDestination
        self.recordsTraceparent = recordsTraceparent
    }
}
