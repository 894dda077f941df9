// Everything that a service imports. Each module below declares its own part.
@_exported public import EventJournal
@_exported public import EventModel
@_exported public import EventPipeline
@_exported public import EventQuarantine
@_exported public import EventSchema
@_exported public import EventValidation
@_exported public import SluiceConsole
@_exported public import TrackerKit
