@_exported public import EventJournal
@_exported public import EventModel
