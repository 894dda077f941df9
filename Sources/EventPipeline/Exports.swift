// Code that was generated before version 0.1 says `import EventPipeline`, and `EventPipeline.AnalyticsEvent`.
@_exported public import EventQuarantine
@_exported public import EventValidation
@_exported public import TrackerKit
