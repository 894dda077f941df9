// What a service needs of Sluice, under one name. The declarations stand in the modules that are listed here.
@_exported public import EventJournal
@_exported public import EventModel
@_exported public import EventPipeline
@_exported public import EventQuarantine
@_exported public import EventSchema
@_exported public import EventValidation
@_exported public import SluiceConsole
@_exported public import TrackerKit
