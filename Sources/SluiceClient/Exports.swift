// The types of properties.
@_exported public import EventModel
